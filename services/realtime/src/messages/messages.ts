import type { AppError } from '@recordbus/errors';
import type { LiveSnapshot } from '@recordbus/live';
import { createFrame, type Frame } from './frame.ts';

/** Why a connection's rights have ended (realtime §5.1). */
export type RevokedReason = 'token_expired' | 'session_ended' | 'account_changed';

/** The messages that are not about one change (realtime §3). */
export const messages = {
  ready: (cursor: string): Frame => frameOf('ready', { cursor }),
  /** Has no cursor while the connection cannot be resumed. */
  heartbeat: (cursor?: string): Frame => frameOf('heartbeat', { cursor }),
  /** `records` is JSON text. */
  snapshot: (sub: string, { records, total, at }: LiveSnapshot, cursor: string): Frame =>
    createFrame(
      'snapshot',
      `{"sub":${JSON.stringify(sub)},"records":${records},${JSON.stringify({ total, at, cursor }).slice(1)}`,
    ),
  resync: (sub: string, reason: string, cursor: string): Frame => frameOf('resync', { sub, reason, cursor }),
  revoked: (reason: RevokedReason): Frame => frameOf('revoked', { reason }),
  error: (error: AppError, sub?: string): Frame =>
    frameOf('error', { ...(sub !== undefined && { sub }), ...error.toBody() }),
  reconnect: (afterMs: number): Frame => frameOf('reconnect', { after_ms: afterMs }),
  unsubscribed: (sub: string): Frame => frameOf('unsubscribed', { sub }),
  authenticated: (expiresAtSec: number | undefined): Frame => frameOf('authenticated', { expires: expiresAtSec }),
  pong: (): Frame => frameOf('pong', {}),
} as const;

const frameOf = (type: Frame['type'], data: unknown): Frame => createFrame(type, JSON.stringify(data));
