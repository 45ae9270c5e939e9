import type { EgressClient, EgressResponse } from '@recordbus/egress';
import type { Notification, TargetResult } from './notification.ts';

/** A notification's content. */
export type Message = Pick<Notification, 'title' | 'body' | 'data'>;

/**
 * Sends one message to many targets and returns a result for each. No request begins after `endsAtMs`, by the clock. An
 * error that it throws is the result of every target.
 */
export type SendMessage = (targets: readonly string[], message: Message, endsAtMs: number) => Promise<TargetResult[]>;

/** A provider's dependencies. */
export interface ProviderDeps {
  readonly client: Pick<EgressClient, 'request'>;
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly wait: (ms: number) => Promise<void>;
  /** The time in milliseconds. */
  readonly clock: () => number;
}

/** One request's limits. */
export const requestLimits = { timeoutMs: 10_000, maxBodyBytes: 1024 * 1024 };

const maxErrorLength = 500;

/** Returns a response's body; undefined when it is not a JSON object. */
export function readJson({ body }: EgressResponse): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(body).toString('utf8'));
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/** Shortens a provider's message for results and logs. */
export const bounded = (words: string): string => words.slice(0, maxErrorLength);

/** Returns the same result for every target. */
export const allOf = (targets: readonly string[], result: Omit<TargetResult, 'target'>): TargetResult[] =>
  targets.map((target) => ({ target, ...result }));
