/** Operators of the Itanium ABI: code, text, and number of operands. */

/** An operator as expressions and names write it. */
export interface Operator {
  text: string;
  operands: 0 | 1 | 2 | 3;
}

const ROWS = `
aN &= 2|aS = 2|aa && 2|ad & 1|an & 2|at alignof_ 1|aw co_await_ 1|az alignof_ 1|cl () 2|cm , 2|co ~ 1
dV /= 2|da delete[]_ 1|de * 1|dl delete_ 1|ds .* 2|dt . 2|dv / 2|eO ^= 2|eo ^ 2|eq == 2|ge >= 2|gs :: 1
gt > 2|ix [] 2|lS <<= 2|le <= 2|ls << 2|lt < 2|mI -= 2|mL *= 2|mi - 2|ml * 2|mm -- 1|na new[] 3|ne != 2
ng - 1|nt ! 1|nw new 3|nx noexcept 1|oR |= 2|oo || 2|or | 2|pL += 2|pl + 2|pm ->* 2|pp ++ 1|ps + 1
pt -> 2|qu ? 3|rM %= 2|rS >>= 2|rm % 2|rs >> 2|ss <=> 2|sz sizeof_ 1|tr throw 0|tw throw_ 1
`;

/** Operators by their two letters. */
export const OPERATORS: ReadonlyMap<string, Operator> = new Map(
  Array.from(ROWS.matchAll(/(\w\w) (\S+?) ([0-3])(?=[|\n])/g), ([, code, text, operands]) => [
    code!,
    { text: text!.replace("_", " "), operands: Number(operands) as Operator["operands"] },
  ]),
);

/** Casts that name the type in angle brackets. */
export const CASTS: ReadonlyMap<string, string> = new Map([
  ["cc", "const_cast"],
  ["dc", "dynamic_cast"],
  ["rc", "reinterpret_cast"],
  ["sc", "static_cast"],
]);
