/**
 * Processor time of ended processes that no series of their own has. The kernel adds the time of a
 * process, and of all that it has waited for, to the process that waits for it: what waiters gain,
 * less what series had counted of the ended ones, is the rest.
 */

import type { CpuTime } from "./cpu_time.ts";

/** Balances what waiters gain with what was counted before; one balance for user and system each. */
export class EndedTime {
  readonly #user = new Balance();
  readonly #system = new Balance();

  /** A process has waited for others, which have used this much. */
  gained(time: CpuTime): void {
    this.#user.gained(time.user_us);
    this.#system.gained(time.system_us);
  }

  /** A process is gone of which this much was counted; its waiter gains at least as much. */
  gone(counted: CpuTime): void {
    this.#user.gone(counted.user_us);
    this.#system.gone(counted.system_us);
  }

  /** Ends a sample: the time that no series has. */
  settle(): CpuTime {
    return { user_us: this.#user.settle(), system_us: this.#system.settle() };
  }
}

class Balance {
  #owed = 0;
  #gained = 0;
  #gone = 0;

  gained(us: number): void {
    this.#gained += us;
  }

  gone(us: number): void {
    this.#gone += us;
  }

  settle(): number {
    const rest = this.#gained - this.#owed - this.#gone;
    // A waiter may have been read before it waited: then it gains by the next sample. What is still
    // owed after that was nobody's gain: the parent ignores its children, or is none of ours.
    this.#owed = Math.min(Math.max(0, -rest), this.#gone);
    this.#gained = 0;
    this.#gone = 0;
    return Math.max(0, rest);
  }
}
