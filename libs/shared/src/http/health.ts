import type { HealthCheck } from '../service.ts';

export interface Readiness {
  readonly ready: boolean;
  /** Each dependency with `ok` or the sentence that says what is wrong. */
  readonly checks: Record<string, string>;
}

/** Longest wait for a dependency's sign of life, in milliseconds. */
const patienceMs = 2000;

/**
 * Asks every dependency at once (contract §1, `GET /readyz`). Those in `dispensable` are reported and not counted:
 * whoever can do its work without them must go on getting requests. Who asks for what others have found out gives them
 * more time than they give their own dependencies.
 */
export async function checkReadiness(
  checks: Readonly<Record<string, HealthCheck>>,
  dispensable: ReadonlySet<string> = new Set(),
  timeoutMs = patienceMs,
): Promise<Readiness> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
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
  const ready = results.every(([name, result]) => result === 'ok' || dispensable.has(name));
  return { ready, checks: Object.fromEntries(results) };
}
