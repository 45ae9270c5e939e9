import type { HealthCheck } from '../service.ts';

export interface Readiness {
  readonly ready: boolean;
  /** Each dependency with `ok` or the sentence that says what is wrong. */
  readonly checks: Record<string, string>;
}

/** Longest wait for a dependency's sign of life, in milliseconds. */
const checkTimeoutMs = 2000;

/** Asks every dependency at once (contract §1, `GET /readyz`). */
export async function checkReadiness(checks: Readonly<Record<string, HealthCheck>>): Promise<Readiness> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error(`no answer within ${checkTimeoutMs} ms`)), checkTimeoutMs);
      });
      try {
        await Promise.race([check(), late]);
        return [name, 'ok'] as const;
      } catch (error) {
        return [name, error instanceof Error ? error.message : String(error)] as const;
      } finally {
        clearTimeout(timer);
      }
    }),
  );
  return { ready: results.every(([, result]) => result === 'ok'), checks: Object.fromEntries(results) };
}
