import type { EgressClient, EgressResponse } from '@recordbus/egress';
import type { Notification, TargetResult } from './notification.ts';

/** What is told to each target. */
export type Message = Pick<Notification, 'title' | 'body' | 'data'>;

/**
 * Sends one message to many targets; gives a result for each. No request is begun after `endsAtMs`, by the clock. What it
 * throws is the result of all.
 */
export type SendMessage = (targets: readonly string[], message: Message, endsAtMs: number) => Promise<TargetResult[]>;

/** What a provider's code works with. */
export interface ProviderDeps {
  readonly client: Pick<EgressClient, 'request'>;
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly wait: (ms: number) => Promise<void>;
  /** The time in milliseconds. */
  readonly clock: () => number;
}

/** One request takes no longer, and its answer is no larger. */
export const exchangeLimits = { timeoutMs: 10_000, maxBodyBytes: 1024 * 1024 };

const maxWordsLength = 500;

/** The body of an answer; undefined when it is no JSON object. */
export function readJson({ body }: EgressResponse): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(body).toString('utf8'));
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/** A provider's words, short enough to be shown and logged. */
export const bounded = (words: string): string => words.slice(0, maxWordsLength);

/** The same result for every target. */
export const allOf = (targets: readonly string[], result: Omit<TargetResult, 'target'>): TargetResult[] =>
  targets.map((target) => ({ target, ...result }));
