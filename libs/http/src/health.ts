import { messageOf } from '@recordbus/errors';
import type { Logger } from '@recordbus/process/logging';
import type { HealthCheck } from './service.ts';

export interface Readiness {
  readonly ready: boolean;
  /** Each dependency with `ok`, `ok, but …`, or a sentence about what is wrong. */
  readonly checks: Record<string, string>;
}

const worksBut = 'ok, but ';

/** Whether a check's result means that the dependency works. */
export const works = (result: string): boolean => result === 'ok' || result.startsWith(worksBut);

/** A dependency's state in one word, which anyone may read. */
export type HealthWord = 'ok' | 'degraded' | 'failing';

const wordOf = (result: string): HealthWord =>
  result === 'ok' ? 'ok' : result.startsWith(worksBut) ? 'degraded' : 'failing';

/** Replaces each sentence by a word: sentences may name hosts and users, so only admins and services get them. */
export const withoutReasons = ({ ready, checks }: Readiness): Readiness => ({
  ready,
  checks: Object.fromEntries(Object.entries(checks).map(([name, result]) => [name, wordOf(result)])),
});

/** Creates a function that logs the checks whose word has changed since its last call. */
export function createReadinessLog(log: Logger): (readiness: Readiness) => void {
  const words = new Map<string, HealthWord>();
  return ({ checks }) => {
    for (const [check, result] of Object.entries(checks)) {
      const word = wordOf(result);
      if (word === (words.get(check) ?? 'ok')) continue;
      words.set(check, word);
      if (word === 'ok') log.info({ check }, 'health check passes again');
      else log.warn({ check, reason: result }, `health check is ${word}`);
    }
  };
}

/** Longest wait for a check, in milliseconds. */
const defaultTimeoutMs = 2000;

/**
 * Runs all checks at once, for `GET /readyz` (http §11.2). Those in `dispensable` are reported but do not count: a
 * service that works without them must keep getting requests. A caller that checks services must allow them more time
 * than they allow their own dependencies.
 */
export async function checkReadiness(
  checks: Readonly<Record<string, HealthCheck>>,
  dispensable: ReadonlySet<string> = new Set(),
  timeoutMs = defaultTimeoutMs,
): Promise<Readiness> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
      });
      try {
        const remark = await Promise.race([check(), late]);
        return [name, typeof remark === 'string' ? `${worksBut}${remark}` : 'ok'] as const;
      } catch (error) {
        return [name, messageOf(error)] as const;
      } finally {
        clearTimeout(timer);
      }
    }),
  );
  const ready = results.every(([name, result]) => works(result) || dispensable.has(name));
  return { ready, checks: Object.fromEntries(results) };
}
