/** Schema errors: where a value does not fit its shape, and the rule that it breaks. */

/** The error of a value that does not fit its shape: the path of the fault, and the rule. */
export class ShapeError extends TypeError {
  /** Name of the class. */
  override readonly name = "ShapeError";
  /** Path of the fault, such as `window.series[3].count`; empty for the value as a whole. */
  readonly path: string;
  /** The rule, and the value that was found. */
  readonly fault: string;

  /** For a fault at a path. */
  constructor(path: string, fault: string) {
    super(`Cannot accept ${path || "the value"}: ${fault}`);
    this.path = path;
    this.fault = fault;
  }
}

/** The error of a part of a value, with the path from the whole value. */
export function within(part: string, error: unknown): unknown {
  if (!(error instanceof ShapeError)) return error;
  return new ShapeError(join(part, error.path), error.fault);
}

/** The path of `path` within `part`. */
export function join(part: string, path: string): string {
  return path === "" || path.startsWith("[") ? `${part}${path}` : `${part}.${path}`;
}

/** Name of a field in a path; a client may have chosen it, so a long or unusual one is cut and quoted. */
export function field(name: string): string {
  return /^[\w.-]{1,80}$/.test(name) ? name : JSON.stringify(name.slice(0, 80));
}

/** The error of a value that breaks a rule. */
export function fault(rule: string, value: unknown): ShapeError {
  return new ShapeError("", `${rule}: got ${describe(value)}`);
}

function describe(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 60));
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" && value !== null ? "an object" : String(value).slice(0, 60);
}
