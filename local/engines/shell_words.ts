/**
 * The words of a shell script that is one simple command. No other syntax of the shell is read: any
 * other script is not understood.
 */

/** Reserved words and builtins with which a script is more than one simple command. */
const NOT_SIMPLE =
  /^(?:if|then|for|while|until|case|select|function|time|coproc|\{|\[\[|!|cd|source|\.|eval|set|trap|export)$/;

/**
 * The words of `script`, variables replaced from `env`; `null` if it is more than one simple command
 * or has an expansion that needs a shell.
 */
export function shellWords(script: string, env: Readonly<Record<string, string>>): string[] | null {
  const words: string[] = [];
  let word: string | null = null;
  let redirects = false;
  const end = () => {
    if (word !== null && !redirects) words.push(word);
    if (word !== null) redirects = false;
    word = null;
  };
  for (const match of script.trim().matchAll(TOKEN)) {
    const { single, double, escaped, name, plain, blank, redirect } = match.groups!;
    if (blank !== undefined) end();
    else if (redirect !== undefined) {
      end();
      // It names its descriptor at once, or its file in the next word.
      redirects = !/&[\d-]$/.test(redirect);
    } else if (single !== undefined) word = (word ?? "") + single;
    else if (double !== undefined) {
      const inside = expandQuoted(double, env);
      if (inside === null) return null;
      word = (word ?? "") + inside;
    } else if (escaped !== undefined) word = (word ?? "") + (escaped === "\n" ? "" : escaped);
    else if (name !== undefined) {
      const value = env[name.replace(/[${}]/g, "")] ?? "";
      if (/[\s*?[]/.test(value)) return null;
      if (value !== "") word = (word ?? "") + value;
    } else if (plain !== undefined) word = (word ?? "") + plain;
    else return null;
  }
  end();
  return words.length === 0 || NOT_SIMPLE.test(words[0]!) ? null : words;
}

/** A piece of a word, a blank or a redirection; anything else is beyond a simple command. */
const TOKEN =
  /'(?<single>[^']*)'|"(?<double>(?:[^"\\]|\\[^])*)"|\\(?<escaped>[^])|(?<name>\$(?:\w+|\{\w+\}))|(?<redirect>(?:(?<![^\s])\d)?(?:>>|>&[\d-]|<&[\d-]|>|<)|&>>?)|(?<plain>[^\s'"\\$`;&|<>()*?[\]#~\n]+|(?<=\S)[#~])|(?<blank>[ \t]+)|[^]/g;

function expandQuoted(text: string, env: Readonly<Record<string, string>>): string | null {
  const rest = text.replace(/\\[^]/g, "").replace(/\$(?:\w+|\{\w+\})/g, "");
  if (/[`$]/.test(rest)) return null;
  return text.replace(
    /\\([$`"\\])|\\\n|\$(\w+)|\$\{(\w+)\}/g,
    (_, escaped, name, braced) => escaped ?? env[name ?? braced] ?? "",
  );
}
