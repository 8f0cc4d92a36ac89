import { answer, type Handler } from "../http/respond.ts";
import { unavailable } from "../http/problem.ts";

const PATIENCE_MS = 2_000;

/** `GET /health`: whether the service and the database of its keys answer. */
export const health: Handler = async (c, { databases }) => {
  let timer;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(unavailable()), PATIENCE_MS);
  });
  try {
    await Promise.race([databases.control.query("SELECT 1"), late]);
  } catch {
    throw unavailable();
  } finally {
    clearTimeout(timer);
  }
  return answer(c, { status: "ok" });
};
