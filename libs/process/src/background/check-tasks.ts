import { healthOfTasks } from './running-tasks.ts';

/**
 * Checks this process's background tasks, for `GET /readyz` (http §11.2): names those whose last run failed. Requests
 * are answered all the same, so it never throws.
 */
export async function checkTasks(): Promise<string | undefined> {
  const sentences = [...healthOfTasks()]
    .filter(([, { failures }]) => failures > 0)
    .map(([name, { failures, lastError }]) => `cannot ${name} (failures: ${failures}): ${textOf(lastError)}`);
  return sentences.length > 0 ? sentences.join('; ') : undefined;
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
