/** Command lines and log lines without their secrets. */

const REDACTED = "[redacted]";

/**
 * The command line as one string: arguments quoted as a shell needs it, secrets replaced. A secret is
 * the value of an option, variable or field with a name such as key, token, password or secret,
 * the credentials in a URL, and the value of an `Authorization` header.
 */
export function redact(args: readonly string[]): string {
  let option = "";
  let inScript = false;
  return args.map((arg, at) => {
    const before = args[at - 1] ?? "";
    inScript ||= SCRIPT_RUNNER.test(before);
    const isValue = option !== "" && !OPTION.test(arg) &&
      (option === before || MANY_VALUES.test(option));
    if (isValue && isSecret(option)) return shellWord(isCount(option, arg) ? arg : REDACTED);
    if (!isValue) option = OPTION_NAME.test(arg) ? arg : "";
    return shellWord(inScript && /^-[a-z]*c$/.test(before) ? redactText(arg) : redactArgument(arg));
  }).join(" ");
}

const SCRIPT_RUNNER = /(?:^|\/)(?:(?:ba|da|z|k)?sh|python[\d.]*)$/;

/** An option whose value, if it has one, is the next argument. */
const OPTION_NAME = /^--?[a-z][\w.-]*$/i;

/** An option and not a value; narrow, since a secret may start with a dash. */
const OPTION = /^(?:--[a-z][\w.-]*(?:=[^]*)?|-[a-z])$/i;

/** Options that take all arguments up to the next option. */
const MANY_VALUES = /^--?api[-_]?keys?$/i;

/** Depth to which `name=name=…` is read as nested arguments. */
const MAX_DEPTH = 4;

/** One argument; the value of a name extends to its end, with its spaces. */
function redactArgument(arg: string, depth = 0): string {
  const match = depth < MAX_DEPTH ? /^([\w.-]+)(=|:[ \t]*(?!\/\/))([^]*)$/.exec(arg) : null;
  if (!match) return redactText(arg);
  const [, name = "", separator = "", value = ""] = match;
  if (!isSecretField(name, separator)) return name + separator + redactArgument(value, depth + 1);
  return name + separator + (value === "" || isCount(name, value) ? value : REDACTED);
}

function shellWord(arg: string): string {
  if (/^[\w@%+=:,./-]+$/.test(arg.replaceAll(REDACTED, "x"))) return arg;
  return `'${arg.replaceAll("'", `'\\''`)}'`;
}

/** The places where a secret may begin: a URL, or a name with its separator. */
const START =
  /(?<![\w.+-])(?:(?<url>[a-z][a-z\d+.-]*:\/\/)|(?<name>[\w.-]+)(?<separator>\\*["'`]?[ \t]*(?:={1,2}|:=?)[ \t]*|[ \t]+))/gi;

/** The text with its secrets replaced: for log lines and scripts. */
export function redactText(text: string): string {
  const start = new RegExp(START);
  let out = "";
  let at = 0;
  for (let match; (match = start.exec(text)); start.lastIndex = at) {
    out += text.slice(at, start.lastIndex);
    at = start.lastIndex;
    const { url, name = "", separator = "" } = match.groups ?? {};
    if (url) {
      const address = matchAt(/[^\s"<>]*/y, text, at);
      out += redactAddress(address);
      at += address.length;
    } else if (isSecretField(name, separator)) {
      const { open, value, close } = valueAt(text, at, name);
      out += open + (value === "" || isCount(name, value) ? value : REDACTED) + close;
      at += open.length + value.length + close.length;
    }
  }
  return out + text.slice(at);
}

/** The rest of a URL after its scheme, without credentials and the values of secret parameters. */
function redactAddress(address: string): string {
  return address
    .replace(/^(?:[^/?#]*@|[^/@:]*:(?!\d{1,5}(?:[/?#]|$))[^@]*@)/, `${REDACTED}@`)
    .replace(SECRET_PARAMETER, (all, name: string, value: string) => {
      const kept = withoutClosers(value);
      return kept === "" || isCount(name, kept)
        ? all
        : `${name}=${REDACTED}${value.slice(kept.length)}`;
    });
}

interface Value {
  /** The quote around it, or the empty text. */
  open: string;
  value: string;
  close: string;
}

/** The value that starts at `at`: in quotes, in brackets, or up to the next blank. */
function valueAt(text: string, at: number, name: string): Value {
  const open = matchAt(/\\*["'`]|(?:Basic|Bearer|Digest|Token)[ \t]+/iy, text, at);
  const from = at + open.length;
  if (/^\\/.test(open)) {
    const end = text.indexOf(open, from);
    return end < 0
      ? { open, value: text.slice(from), close: "" }
      : { open, value: text.slice(from, end), close: open };
  }
  if (/^["'`]/.test(open)) {
    const inside = matchAt(INSIDE[open as keyof typeof INSIDE], text, from);
    const close = text.startsWith(open, from + inside.length) ? open : "";
    // The value continues after the quote unless a character follows that ends a value.
    const rest = matchAt(/(?![\s,;:)\]}&|])(?:\\.|[^\s\\])+/y, text, from + inside.length + 1);
    return { open, value: inside + (rest && close + rest), close: rest ? "" : close };
  }
  if (/[[{]/.test(text.charAt(from))) return { open, value: bracketed(text, from), close: "" };
  if (/authorization$/i.test(name)) {
    return { open, value: matchAt(/[^"'\r\n]+/y, text, from), close: "" };
  }
  const word = matchAt(/(?:\\.|[^\s\\])+/y, text, from);
  if (/^--?[a-z]/i.test(word) && name.startsWith("-")) return { open, value: "", close: "" };
  return { open, value: withoutClosers(word), close: "" };
}

const INSIDE = {
  '"': /(?:[^"\\\n]|\\.)*/y,
  "'": /(?:[^'\\\n]|\\.)*/y,
  "`": /[^`\n]*/y,
};

/** From a bracket to the one that closes it, or to the end. */
function bracketed(text: string, from: number): string {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    if (/[[{]/.test(text[at]!)) depth++;
    else if (/[\]}]/.test(text[at]!) && --depth === 0) return text.slice(from, at + 1);
  }
  return text.slice(from);
}

/** The value without punctuation at its end. */
function withoutClosers(value: string): string {
  return value.replace(/[)\]}"'`,;]{1,8}$/, "");
}

// A tokenizer is not a token.
const WORDS = "key|token(?!iz)|passw|passphrase|secret|credential|authorization";
const SECRET = new RegExp(`${WORDS}|(?:^|[._-])pass$`, "i");
const SECRET_PARAMETER = new RegExp(
  `(?<=[?&;#])([^=&;#?]{0,100}(?:${WORDS})[^=&;#?]{0,100})=([^&]*)`,
  "gi",
);

function isSecret(name: string): boolean {
  return SECRET.test(name);
}

/**
 * Whether a name with this separator has a secret for its value. Before a bare colon only a name that
 * ends in such a word has: `KeyError: 'x'` is an error.
 */
function isSecretField(name: string, separator: string): boolean {
  if (/^[ \t]+$/.test(separator)) {
    return /^bearer$/i.test(name) || (name.startsWith("-") && isSecret(name));
  }
  if (separator.includes("=") || /["'`]/.test(separator) || name.startsWith("-")) {
    return isSecret(name);
  }
  return /(?:.key|token|passw(?:or)?d|passphrase|secret|credential|authorization)s?$/i.test(name);
}

/** Counts of tokens and of attention keys are settings, not secrets. */
function isCount(name: string, value: string): boolean {
  return /tokens|key[-_]value|num[-_]key/i.test(name) && /^\d+(?:\.\d+)?$/.test(value);
}

function matchAt(sticky: RegExp, text: string, at: number): string {
  sticky.lastIndex = at;
  return sticky.exec(text)?.[0] ?? "";
}
