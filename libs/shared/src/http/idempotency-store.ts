import type { Reply } from './reply.ts';

/** An answer as it is kept for those who ask again. */
export interface KeptReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text. */
  readonly json: string;
}

/** Runs one SQL statement and gives its rows. */
export type RunStatement = <R>(statement: {
  readonly name?: string;
  readonly text: string;
  readonly values: readonly unknown[];
}) => Promise<R[]>;

/** A key that nobody else has: do the work, then keep its answer or let go of the key. */
export interface FirstClaim {
  readonly outcome: 'first';
  keep(reply: KeptReply, digest: Buffer): Promise<void>;
  /** Keeps it in the transaction of the work; false when somebody else has the key by now. */
  keepIn(query: RunStatement, reply: KeptReply, digest: Buffer): Promise<boolean>;
  release(): Promise<void>;
}

/** What became of a claim on a key. */
export type Claim =
  | FirstClaim
  | { readonly outcome: 'running' }
  /** Gives the answer for the same request again; undefined for another one. */
  | { readonly outcome: 'answered'; replyTo(digest: Buffer): KeptReply | undefined };

/** Keeps answers by idempotency key, for all replicas (contract §1). */
export interface IdempotencyStore {
  /** `identity` is the key with whose it is and what for. */
  claim(identity: string): Promise<Claim>;
}

/**
 * Keeps the answer of a request with a key in the transaction that does its work, so that both commit or neither.
 * Throws 409, so that the transaction ends, when the key was taken over meanwhile.
 */
export type KeepAnswer = (reply: Reply, query: RunStatement) => Promise<void>;
