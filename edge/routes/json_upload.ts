/** Uploads in JSON: read from a body, or refused with the path of the fault. */

import { decode, ShapeError, type Upload } from "@service/core";
import { Ignored } from "@service/core/ignored";
import { MAX_UPLOAD_PARTS } from "@service/core/limits";
import { refuse } from "@service/core/problem";
import { UPLOAD_FORMAT } from "@service/core/upload";
import { uploadShape } from "@service/core/upload_schema";

/** An upload in JSON. */
export interface ReadJsonUpload {
  upload: Upload;
  /** Its bytes as they came. */
  content: Uint8Array;
  /** Paths of members that were ignored. */
  ignored: string[];
}

/**
 * The upload in a body.
 *
 * @throws {Refusal} 400 if it is none; 415 if it has another format.
 */
export function readJsonUpload(content: Uint8Array): ReadJsonUpload {
  try {
    const value = decode(textOf(content), { max_parts: MAX_UPLOAD_PARTS });
    expectKnownFormat(value);
    const ignored = new Ignored();
    return { upload: uploadShape.check(value, ignored), content, ignored: ignored.paths };
  } catch (error) {
    if (error instanceof ShapeError) {
      const parameter = error.path || "body";
      throw refuse(400, error.message, [{ parameter, message: error.fault }]);
    }
    if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error;
    const errors = [{ parameter: "body", message: error.message }];
    const most = `of at most ${MAX_UPLOAD_PARTS} objects, arrays and members`;
    throw refuse(400, `Cannot read the body: it must be JSON in UTF-8, ${most}`, errors);
  }
}

function expectKnownFormat(value: unknown): void {
  const { format } = (value ?? {}) as { format?: unknown };
  if (format === UPLOAD_FORMAT || (typeof format !== "number" && typeof format !== "bigint")) {
    return;
  }
  const known = `this service reads JSON uploads of format ${UPLOAD_FORMAT}`;
  throw refuse(415, `Cannot read the upload: it has format ${format}, and ${known}`, [
    { parameter: "format", message: `must be ${UPLOAD_FORMAT}: got ${format}` },
  ]);
}

const utf8 = new TextDecoder();
const strictUtf8 = new TextDecoder("utf-8", { fatal: true });

/** The strict decoder takes four times as long: it runs only where the text may not be UTF-8. */
function textOf(body: Uint8Array): string {
  const text = utf8.decode(body);
  return text.includes("\ufffd") ? strictUtf8.decode(body) : text;
}
