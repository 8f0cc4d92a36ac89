/** The poller of NVIDIA's devices, over the fake driver. */

import { missingCompiler, testUnless } from "../../skipping.ts";
import { compiler } from "../cuda/build.ts";
import { SCENARIOS } from "./scenarios.ts";

const test = testUnless(missingCompiler(compiler));

for (const [name, scenario] of Object.entries(SCENARIOS)) test(name, () => scenario({}));
