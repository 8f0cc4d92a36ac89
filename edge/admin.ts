/** Operations on projects and keys by command: `deno task admin <command>`. */

import { parseArgs } from "node:util";
import { ShapeError } from "@service/core";
import { text } from "@service/core/schema";
import { openDatabases, sentence } from "./database/databases.ts";
import { type Field, field, type Input, type Operation } from "./routes/operation.ts";
import { operations } from "./routes/operations.ts";
import { clock } from "./service.ts";
import { readSettings, type Settings } from "./settings.ts";

/** A command line, read and checked. */
interface Invocation {
  operation: Operation;
  input: Input<Record<string, unknown>>;
}

/** Name of the flag that names the target. */
const TARGET = "";

Deno.exit(await main(Deno.args));

async function main(args: string[]): Promise<number> {
  let invocation: Invocation;
  let settings: Settings;
  try {
    invocation = parse(args);
    settings = readSettings(Deno.env);
  } catch (error) {
    console.error(`${(error as Error).message}\n${usage()}`);
    return 2;
  }
  const { operation, input } = invocation;
  const { database_url: url, database_token: token } = settings;
  try {
    await using databases = await openDatabases({ url, token });
    const answer = await operation.run({ databases, now_ns: clock }, input);
    for (const line of operation.lines(answer, { input, now_ns: clock() })) console.log(line);
    return 0;
  } catch (error) {
    console.error(sentence(error));
    return 1;
  }
}

function parse([command = "", ...args]: string[]): Invocation {
  const operation = operations.find((one) => one.command === command);
  if (!operation) throw new RangeError(`Cannot run the command: got ${JSON.stringify(command)}`);
  const flags = flagsOf(operation);
  const { values: texts, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: Object.fromEntries(flags.map(({ flag }) => [flag, { type: "string" as const }])),
  });
  const operand = operandOf(operation);
  if (positionals.length !== (operand ? 1 : 0)) {
    const allowed = operand ? `one ${operand}` : "flags only";
    throw new RangeError(`Cannot run ${command}: it takes ${allowed}`);
  }
  if (positionals[0] === "") throw new RangeError(`Cannot run ${command}: ${operand} is empty`);
  const input: Invocation["input"] = { target: positionals[0] ?? "", values: {} };
  for (const flag of flags) {
    const text = texts[flag.flag];
    if (text === undefined && flag.isOptional) continue;
    const value = valueOf(flag, text, command);
    if (flag.name === TARGET) input.target = value as string;
    else input.values[flag.name] = value;
  }
  return { operation, input };
}

/** A flag of a command, and the value that it gives. */
interface Flag extends Field<unknown> {
  flag: string;
  /** Name of the field, or {@linkcode TARGET}. */
  name: string;
}

function flagsOf({ target, fields }: Operation): Flag[] {
  const flags = Object.entries(fields).map(([name, field]) => ({
    flag: name.replaceAll("_", "-"),
    ...field,
    name,
  }));
  if (!target?.flag) return flags;
  return [{ ...field(text(), `<${target.name}>`), flag: target.flag, name: TARGET }, ...flags];
}

function operandOf({ target }: Operation): string | undefined {
  return target?.flag ? undefined : target?.name;
}

function valueOf({ flag, shape, parse }: Flag, text: string | undefined, command: string): unknown {
  const wrong = (fault: string) => new RangeError(`Cannot run ${command}: --${flag} ${fault}`);
  if (text === undefined) throw wrong("is missing");
  if (text === "") throw wrong("must not be empty");
  try {
    return shape.check(parse ? parse(text) : text);
  } catch (error) {
    throw wrong(error instanceof ShapeError ? error.fault : (error as Error).message);
  }
}

function usage(): string {
  return `Usage:\n${operations.map(usageOf).join("\n")}`;
}

function usageOf(operation: Operation): string {
  const operand = operandOf(operation);
  const flags = flagsOf(operation).map(({ flag, placeholder, isOptional }) =>
    isOptional ? `[--${flag} ${placeholder}]` : `--${flag} ${placeholder}`
  );
  const words = ["admin", operation.command, ...(operand ? [`<${operand}>`] : []), ...flags];
  const text = [operation.summary, operation.description].filter(Boolean).join(". ");
  return `  ${words.join(" ")}\n      ${text}`;
}
