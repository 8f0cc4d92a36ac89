/** Modules of the published package that carry the native files as text: one for each architecture. */

import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";

/** Folder of the modules, and paths of the files that one carries. */
export interface PackageOptions {
  folder: string;
  products: string[];
}

/** Writes the module for an architecture; `local/launch/package.ts` reads it. */
export async function writePackage(
  architecture: string,
  { folder, products }: PackageOptions,
): Promise<void> {
  const entries: string[] = [];
  for (const product of products) {
    const bytes = await Deno.readFile(product);
    const name = JSON.stringify(product.slice(product.lastIndexOf("/") + 1));
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    const gzip = gzipSync(bytes, { level: 9 }).toString("base64");
    entries.push(`  ${name}: {\n    sha256: "${sha256}",\n    gzip: "${gzip}",\n  },\n`);
  }
  await Deno.mkdir(folder, { recursive: true });
  const path = `${folder}/${architecture}.ts`;
  const temporary = `${path}.${Deno.pid}`;
  await Deno.writeTextFile(
    temporary,
    `/** Native files for ${architecture}: written by ffi/build.ts, gzip in base64. */\n\n` +
      "/** Each file by its name. */\n" +
      `export const files: Record<string, { sha256: string; gzip: string }> = {\n${
        entries.join("")
      }};\n`,
  );
  await Deno.rename(temporary, path);
}
