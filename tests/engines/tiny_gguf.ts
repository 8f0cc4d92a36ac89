/** A tiny random Llama as one GGUF file, half a megabyte: llama-server serves it, nothing it says makes sense. */

const [HIDDEN, LAYERS, HEADS, KEY_HEADS, FORWARD, CONTEXT] = [64, 2, 4, 2, 128, 4_096] as const;

/** Types of values in the format. */
const [UINT32, INT32, FLOAT32, STRING, ARRAY] = [4, 5, 6, 8, 9] as const;

/** Tensors start at multiples of this. */
const ALIGNMENT = 32;

const BYTES = Array.from(
  { length: 256 },
  (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`,
);
const WORDS = [
  ...["the", "a", "of", "to", "and", "in", "fox", "dog"].map((word) => `\u2581${word}`),
  ...Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i).replace(" ", "\u2581")),
];
const TOKENS = ["<unk>", "<s>", "</s>", ...BYTES, ...WORDS];
/** Tokens that are no words: were one the likeliest, a request would end early or its text be no UTF-8. */
const SPECIAL = 3 + BYTES.length;
const KINDS = [2, 3, 3, ...BYTES.map(() => 6), ...WORDS.map(() => 1)];

/** The file's bytes, the same each time. */
export function tinyGguf(): Uint8Array {
  const random = createRandom();
  const vocabulary = TOKENS.length;
  const tensors: [name: string, shape: number[], values: Float32Array][] = [];
  const add = (name: string, shape: number[], value: () => number) => {
    const size = shape.reduce((product, length) => product * length, 1);
    tensors.push([`${name}.weight`, shape, Float32Array.from({ length: size }, value)]);
  };
  const weights = (name: string, ...shape: number[]) => add(name, shape, () => 0.05 * random());
  const ones = (name: string) => add(name, [HIDDEN], () => 1);
  weights("token_embd", HIDDEN, vocabulary);
  for (let layer = 0; layer < LAYERS; layer++) {
    const part = `blk.${layer}.`;
    ones(`${part}attn_norm`);
    ones(`${part}ffn_norm`);
    weights(`${part}attn_q`, HIDDEN, HIDDEN);
    weights(`${part}attn_k`, HIDDEN, (HIDDEN * KEY_HEADS) / HEADS);
    weights(`${part}attn_v`, HIDDEN, (HIDDEN * KEY_HEADS) / HEADS);
    weights(`${part}attn_output`, HIDDEN, HIDDEN);
    weights(`${part}ffn_gate`, HIDDEN, FORWARD);
    weights(`${part}ffn_up`, HIDDEN, FORWARD);
    weights(`${part}ffn_down`, FORWARD, HIDDEN);
  }
  ones("output_norm");
  let at = 0;
  add("output", [HIDDEN, vocabulary], () => at++ < SPECIAL * HIDDEN ? 0 : random());

  const file = new Writer();
  const pairs = metadata(vocabulary);
  file.bytes(new TextEncoder().encode("GGUF"));
  file.uint32(3);
  file.uint64(tensors.length);
  file.uint64(pairs.length);
  for (const write of pairs) write(file);
  let offset = 0;
  for (const [name, shape, values] of tensors) {
    file.string(name);
    file.uint32(shape.length);
    for (const length of shape) file.uint64(length);
    file.uint32(0);
    file.uint64(offset);
    offset += Math.ceil(values.byteLength / ALIGNMENT) * ALIGNMENT;
  }
  for (const [, , values] of tensors) {
    file.align();
    file.bytes(new Uint8Array(values.buffer));
  }
  return file.whole();
}

type Pair = (file: Writer) => void;

function metadata(vocabulary: number): Pair[] {
  const number = (key: string, value: number): Pair => (file) => {
    file.string(key);
    file.uint32(UINT32);
    file.uint32(value);
  };
  const text = (key: string, value: string): Pair => (file) => {
    file.string(key);
    file.uint32(STRING);
    file.string(value);
  };
  const list = (key: string, type: number, items: Pair[]): Pair => (file) => {
    file.string(key);
    file.uint32(ARRAY);
    file.uint32(type);
    file.uint64(items.length);
    for (const write of items) write(file);
  };
  return [
    text("general.architecture", "llama"),
    number("llama.context_length", CONTEXT),
    number("llama.embedding_length", HIDDEN),
    number("llama.block_count", LAYERS),
    number("llama.feed_forward_length", FORWARD),
    number("llama.attention.head_count", HEADS),
    number("llama.attention.head_count_kv", KEY_HEADS),
    number("llama.rope.dimension_count", HIDDEN / HEADS),
    (file) => {
      file.string("llama.attention.layer_norm_rms_epsilon");
      file.uint32(FLOAT32);
      file.float32(1e-5);
    },
    number("llama.vocab_size", vocabulary),
    text("tokenizer.ggml.model", "llama"),
    list("tokenizer.ggml.tokens", STRING, TOKENS.map((token) => (file) => file.string(token))),
    list("tokenizer.ggml.scores", FLOAT32, TOKENS.map((_, i) => (file) => file.float32(-i))),
    list("tokenizer.ggml.token_type", INT32, KINDS.map((kind) => (file) => file.uint32(kind))),
    number("tokenizer.ggml.bos_token_id", 1),
    number("tokenizer.ggml.eos_token_id", 2),
    number("tokenizer.ggml.unknown_token_id", 0),
  ];
}

/** Numbers around zero whose variance is one, the same in each run. */
function createRandom(): () => number {
  let state = 1;
  const next = () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
  return () => Math.sqrt(12 / 4) * (next() + next() + next() + next() - 2);
}

/** Writes the format's values, the least significant byte first. */
class Writer {
  readonly #parts: Uint8Array[] = [];
  #length = 0;

  bytes(part: Uint8Array): void {
    this.#parts.push(part);
    this.#length += part.length;
  }

  uint32(value: number): void {
    this.bytes(new Uint8Array(new Uint32Array([value]).buffer));
  }

  uint64(value: number): void {
    this.bytes(new Uint8Array(new BigUint64Array([BigInt(value)]).buffer));
  }

  float32(value: number): void {
    this.bytes(new Uint8Array(new Float32Array([value]).buffer));
  }

  string(text: string): void {
    const bytes = new TextEncoder().encode(text);
    this.uint64(bytes.length);
    this.bytes(bytes);
  }

  align(): void {
    this.bytes(new Uint8Array(-this.#length & (ALIGNMENT - 1)));
  }

  whole(): Uint8Array {
    return new Uint8Array(this.#parts.flatMap((part) => [...part]));
  }
}
