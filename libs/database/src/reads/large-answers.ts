import { rateLimited, unavailable } from '@recordbus/errors';
import { ownCaller } from '@recordbus/limits/fair-gate';
import { currentCaller } from '@recordbus/request/request-scope';
import type { ClassMeter } from '../connections/class-meter.ts';
import { largeAnswerBudget } from '../connections/connection-budget.ts';

/** Releases an answer's room. Further calls have no effect. */
export type Release = () => void;

/** A process's room for large answers that clients have not read yet. */
export interface LargeAnswers {
  /** Takes room for an answer; undefined without room. */
  tryTake(bytes: number, client: string): Release | undefined;
  /**
   * Waits for room and takes it. When there is none in time, throws 429 if the client itself has at least half of it,
   * and 503 otherwise.
   */
  take(bytes: number, client: string): Promise<Release>;
}

interface LargeAnswersOptions {
  readonly meter: ClassMeter;
  readonly maxBytes?: number;
  readonly maxAnswers?: number;
  readonly waitMs?: number;
}

interface Waiter {
  readonly bytes: number;
  readonly takesAll: boolean;
  readonly client: string;
  readonly enter: (release: Release) => void;
}

/**
 * Creates the room for large answers. Waiting answers get it in call order; admins' answers also get the share that
 * others leave to them.
 */
export function createLargeAnswers({
  meter,
  maxBytes = largeAnswerBudget.maxBytes,
  maxAnswers = largeAnswerBudget.maxAnswers,
  waitMs = largeAnswerBudget.waitMs,
}: LargeAnswersOptions): LargeAnswers {
  const waiters = new Set<Waiter>();
  const takenBy = new Map<string, number>();
  let takenBytes = 0;
  let answers = 0;
  meter.watch({ connections: () => 0, idle: () => 0, inUse: () => answers, waiting: () => waiters.size });

  const fits = ({ bytes, takesAll }: Pick<Waiter, 'bytes' | 'takesAll'>): boolean => {
    const share = takesAll ? 1 : 1 - largeAnswerBudget.adminShare;
    return answers === 0 || (answers < maxAnswers * share && takenBytes + bytes <= maxBytes * share);
  };

  function count(client: string, bytes: number): void {
    takenBytes += bytes;
    const left = (takenBy.get(client) ?? 0) + bytes;
    if (left > 0) takenBy.set(client, left);
    else takenBy.delete(client);
  }

  function enter(bytes: number, client: string): Release {
    count(client, bytes);
    answers += 1;
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      count(client, -bytes);
      answers -= 1;
      letIn();
    };
  }

  function letIn(): void {
    let isFullForOthers = false;
    for (const waiter of waiters) {
      if (isFullForOthers && !waiter.takesAll) continue;
      if (!fits(waiter)) {
        if (waiter.takesAll) return;
        isFullForOthers = true;
        continue;
      }
      waiters.delete(waiter);
      waiter.enter(enter(waiter.bytes, waiter.client));
    }
  }

  const tryTake = (bytes: number, client: string): Release | undefined => {
    const takesAll = mayTakeAll();
    const isFirst = waiters.size === 0 || (takesAll && !waiters.values().some((one) => one.takesAll));
    return isFirst && fits({ bytes, takesAll }) ? enter(bytes, client) : undefined;
  };

  const refusal = (client: string): Error =>
    (takenBy.get(client) ?? 0) * 2 >= takenBytes
      ? rateLimited(1)
      : unavailable('too many large answers are in progress');

  return {
    tryTake,
    async take(bytes, client) {
      const taken = tryTake(bytes, client);
      if (taken) return taken;
      const askedAtMs = performance.now();
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          waiters.delete(waiter);
          meter.refused();
          reject(refusal(client));
          letIn();
        }, waitMs);
        const waiter: Waiter = {
          bytes,
          takesAll: mayTakeAll(),
          client,
          enter(release) {
            clearTimeout(timer);
            meter.waited((performance.now() - askedAtMs) / 1000);
            resolve(release);
          },
        };
        waiters.add(waiter);
      });
    },
  };
}

/** Users and guests leave a share to admins. */
const mayTakeAll = (): boolean => {
  const caller = currentCaller();
  return caller === ownCaller || caller.rank === 'admin';
};

/** How many bytes a UTF-16 code unit takes in UTF-8 at most. */
const bytesPerUnit = 3;

/** The bytes in a large read result's texts; 0 for other results. */
export function largeBytesOf(result: unknown): number {
  const units = sumOfTexts(result, (text) => text.length);
  if (units * bytesPerUnit <= largeAnswerBudget.fromBytes) return 0;
  const bytes = sumOfTexts(result, Buffer.byteLength);
  return bytes > largeAnswerBudget.fromBytes ? bytes : 0;
}

function sumOfTexts(rows: unknown, measure: (text: string) => number): number {
  let sum = 0;
  if (!Array.isArray(rows)) return sum;
  for (const row of rows) for (const name in row) if (typeof row[name] === 'string') sum += measure(row[name]);
  return sum;
}
