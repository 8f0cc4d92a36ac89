/** Gzip of text and bytes. */

/** The compressed bytes of `content`. */
export function gzip(content: BlobPart): Promise<Uint8Array<ArrayBuffer>> {
  return through(content, new CompressionStream("gzip"));
}

/**
 * The text that {@linkcode gzip} compressed.
 *
 * @throws {TypeError} If `bytes` are no gzip, or are cut short.
 */
export async function gunzip(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new TextDecoder().decode(await through(bytes, new DecompressionStream("gzip")));
}

function through(
  part: BlobPart,
  stream: CompressionStream | DecompressionStream,
): Promise<Uint8Array<ArrayBuffer>> {
  return new Response(new Blob([part]).stream().pipeThrough(stream)).bytes();
}
