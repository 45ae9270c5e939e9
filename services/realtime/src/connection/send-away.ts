import { AppError } from '@recordbus/shared/errors';
import { messages } from '../messages/messages.ts';
import type { Connection } from './connection.ts';

/** When clients come back, in milliseconds: spread, so that they do not arrive all at once. */
interface ComeBack {
  readonly leastMs: number;
  readonly spreadMs: number;
}

const soon: ComeBack = { leastMs: 500, spreadMs: 2000 };

/** Ends a connection whose client comes back after a random time, resumes with its cursor, and misses nothing. */
export function sendAway(connection: Connection, { leastMs, spreadMs }: ComeBack = soon): void {
  connection.end('shutdown', messages.reconnect(Math.round(leastMs + Math.random() * spreadMs)));
}

/** Whether something does not answer now and will later: then a client comes back instead of being refused. */
export const isPassing = (error: unknown): boolean => error instanceof AppError && error.status >= 503;
