/**
 * XID events: what the NVIDIA driver reports of a device under a number. Meanings and actions follow
 * https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html and, for older devices, its archive.
 */

/** What an XID number says. */
export interface Xid {
  /** Meaning, as the end of a sentence. */
  meaning: string;
  /** What to do about it, in sentences. */
  act: string;
  /** `warning`: work goes on, and nothing must be done now. */
  level: "warning" | "error";
}

const DEBUG = "Restart the program; run it under compute-sanitizer or cuda-gdb to find the access.";
const RESTART = "Restart the program; if it comes back, report it to the vendor of the machine.";
const CHECK = "Restart the program; if it comes back, check it and its CUDA libraries.";
const RESET = "Reset the GPU (nvidia-smi --gpu-reset) or reboot before it is used again.";
const MEMORY =
  "Reset the GPU or reboot; see ECC errors and remapped rows, replace it if they go on.";
const FIRMWARE = "Reset the GPU or power-cycle; if it comes back, update driver and firmware.";
const LINK =
  "Reset the GPUs of the link or reboot; see nvidia-smi nvlink --status, then the hardware.";
const DRIVER = "Nothing now; if it comes back, update the driver or report it.";
const NOTHING = "Nothing.";

/** Meanings and actions by number; numbers of one kind together. */
const ERRORS: readonly [number | readonly number[], meaning: string, act: string][] = [
  [[8, 46], "the GPU stopped processing", RESET],
  [[11, 25, 32, 80], "a command stream was invalid or damaged on its way to the GPU", CHECK],
  [13, "a kernel failed: an access out of bounds or an illegal instruction", DEBUG],
  [31, "a memory page fault: a kernel or copy used an illegal address", DEBUG],
  [
    [39, 40, 41, 70, 71, 72, 75, 76, 77, 85, 126, 127, 128, 129, 130, 131, 132, 133, 134, 135],
    "a copy engine failed",
    RESTART,
  ],
  [[47, 65, 73, 142], "a video encoder failed", RESTART],
  [[60, 68, 83, 84, 88, 89, 96, 97, 98], "a video decoder failed", RESTART],
  [[82, 99, 100, 101, 102, 103, 104, 105], "a JPEG decoder failed", RESTART],
  [[86, 139], "the optical flow engine failed", RESTART],
  [43, "a program hit an error of its own and its work was ended; the GPU is healthy", DEBUG],
  [48, "an uncorrectable memory error (double-bit ECC)", MEMORY],
  [54, "the board's extra power cable is not connected", "Check the power cables of the board."],
  [[61, 62, 169], "a micro-controller of the GPU halted", FIRMWARE],
  [64, "a bad memory row or page could not be retired", MEMORY],
  [69, "a graphics engine command was of a wrong class", CHECK],
  [74, "an error of an NVLink", LINK],
  [78, "a vGPU could not start", "Update the driver on host and guest to versions that fit."],
  [
    79,
    "the GPU has fallen off the bus: it answers no more over PCIe",
    "Reboot the machine; if it comes back, check power, cooling, risers and the kernel's PCIe log.",
  ],
  [
    94,
    "a memory error contained in one program, which must be restarted",
    "Restart the program; reset the GPU when it is idle.",
  ],
  [95, "an uncontained memory error: all programs on the GPU are affected", MEMORY],
  [109, "a switch between programs took too long", RESET],
  [
    110,
    "a security fault of the GPU",
    "Undo recent changes of hardware and power-cycle; then report it to the vendor.",
  ],
  [[119, 120], "the GPU's system processor (GSP) failed or did not answer in time", FIRMWARE],
  [136, "an NVLink could not be trained", LINK],
  [137, "an access to another GPU over NVLink was illegal", DEBUG],
  [140, "an uncorrectable memory error that could not be handled", MEMORY],
  [141, "the fast path of CUDA failed", RESTART],
  [143, "the GPU could not be initialized", RESET],
  [[144, 145, 146, 147, 148, 149, 150, 155], "an error of an NVLink, or it went down", LINK],
  [151, "rotating the keys of confidential computing failed", "Restart the virtual machine."],
  [[152, 153], "the deep learning accelerator failed", RESTART],
  [157, "a bad resource of the GPU could not be retired: no spare is left", MEMORY],
  [158, "the GPU does not answer", RESET],
  [159, "an error on the link between processor and GPU (C2C)", RESTART],
  [[166, 170], "unencrypted traffic in confidential computing", RESET],
  [167, "the PCIe link timed out", "Reboot the machine; then check the PCIe slot and its log."],
  [168, "bad memory in a protected region: less memory is usable", "Enable ECC, then reboot."],
  [171, "an uncorrectable error in device memory (more about XID 48)", MEMORY],
  [172, "an uncorrectable error in on-chip memory (more about XID 48)", MEMORY],
];

/** Those after which work goes on. */
const WARNINGS: readonly [number | readonly number[], meaning: string, act: string][] = [
  [[14, 106, 107], "a test message", NOTHING],
  [[37, 38, 44, 66, 67], "the driver or its firmware did something illegal", DRIVER],
  [
    45,
    "a program's work was cleared away: it was killed, or an earlier error ended it",
    "Look at the XID before it; alone, it follows a kill or an exit.",
  ],
  [
    63,
    "a bad memory row or page was retired",
    "Reset the GPU when it is idle: then it takes effect.",
  ],
  [92, "many corrected memory errors", "Watch the ECC counters; replace the GPU if they go on."],
  [93, "the InfoROM's wear limit is reached", "Nothing now; nvflash --elsessionclear lifts it."],
  [[108], "a translation over NVLink failed", DRIVER],
  [121, "corrected errors on the link between processor and GPU (C2C)", "Reset the GPU when idle."],
  [
    154,
    "the driver says which recovery the GPU needs",
    "See the XID before it, and nvidia-smi -q (GPU Recovery Action).",
  ],
  [[156, 160], "a bad resource of the GPU was retired", "Reset the GPU when it is idle."],
  [161, "a bad channel could not be retired", DRIVER],
  [162, "power smoothing is on again", NOTHING],
  [163, "power smoothing is off: too hot, or for too long", "See the temperatures."],
  [[164, 165], "the circuit for power smoothing is worn out", "Plan to replace the GPU."],
];

/** Number of an event whose XID the driver does not know. */
const UNKNOWN_TO_DRIVER = 999;

const XIDS = new Map<number, Xid>();
for (const [level, rows] of [["error", ERRORS], ["warning", WARNINGS]] as const) {
  for (const [numbers, meaning, act] of rows) {
    for (const xid of [numbers].flat()) XIDS.set(xid, { meaning, act, level });
  }
}

/** What the driver means by an XID number; numbers that no catalogue has are told as such. */
export function describeXid(xid: number): Xid {
  return XIDS.get(xid) ?? {
    meaning: xid === UNKNOWN_TO_DRIVER
      ? "an error without a number"
      : "an error that is not in the catalogue of this version",
    act: "See the kernel's log (dmesg, NVRM: Xid) and NVIDIA's XID catalogue.",
    level: "error",
  };
}
