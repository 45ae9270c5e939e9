import { AppError } from '@recordbus/errors';
import { messages } from '../messages/messages.ts';
import type { Connection } from './connection.ts';

/** When clients reconnect, in milliseconds. A random part spreads them. */
interface ReconnectDelay {
  readonly minMs: number;
  readonly spreadMs: number;
}

const soon: ReconnectDelay = { minMs: 500, spreadMs: 2000 };

/** Ends a connection. Its client reconnects after a random time, resumes with its cursor, and misses nothing. */
export function endForReconnect(connection: Connection, { minMs, spreadMs }: ReconnectDelay = soon): void {
  connection.end('shutdown', messages.reconnect(Math.round(minMs + Math.random() * spreadMs)));
}

/** Whether a failure is temporary. Then the client reconnects instead of being refused. */
export const isTemporary = (error: unknown): boolean => error instanceof AppError && error.status >= 503;
