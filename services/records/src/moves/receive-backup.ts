import type { IncomingMessage } from 'node:http';
import { recordAudit } from '@recordbus/audit';
import { type Database, newId } from '@recordbus/database';
import { conflict, payloadTooLarge, validationFailed } from '@recordbus/errors';
import { declaredBodyBytes } from '@recordbus/http';
import { heartbeat } from '@recordbus/process/background';
import type { RequestContext } from '@recordbus/request/context';
import type { Storage } from '@recordbus/storage';
import {
  addMove,
  cancelMove,
  endUpload,
  type MoveChoices,
  moveKey,
  renewMove,
  renewMs,
  type ShownMove,
} from './move-rows.ts';

interface ReceiveDeps {
  readonly database: Database;
  readonly archives: Storage;
  maxBytes(): number;
}

interface Upload {
  readonly stream: IncomingMessage | undefined;
  readonly options: MoveChoices;
  readonly context: RequestContext;
  readonly userAgent: string | undefined;
}

/** A zip archive begins with an entry, or with its end if it is empty. */
const beginnings = ['PK\u0003\u0004', 'PK\u0005\u0006'];

/** Stores a backup and adds its move. Throws 409 while another one is not over, 413 and 422. */
export async function receiveBackup(
  { database, archives, maxBytes }: ReceiveDeps,
  { stream, options, context, userAgent }: Upload,
): Promise<ShownMove> {
  if (!stream) throw validationFailed({ body: "is required: the zip archive of PocketBase's backup" });
  const limit = maxBytes();
  if (declaredBodyBytes(stream) > limit) throw payloadTooLarge(limit);
  const { query } = database;
  const id = newId();
  const held = await addMove(query, { id, actor: context.principal, options });
  if (!held) throw conflict('move_running', 'another move is not over: cancel it, or wait');
  const endRenewal = heartbeat(renewMs, () => renewMove(query, held));
  try {
    const { sizeBytes } = await archives.put(moveKey(id), checked(stream, limit));
    return await database.transaction(async (run) => {
      const move = await endUpload(run, id, sizeBytes);
      if (!move) throw conflict('move_state', 'the move was cancelled');
      const target = { type: 'move', id };
      await recordAudit(run, { action: 'moves.create', context, userAgent, target, details: { bytes: sizeBytes } });
      return move;
    });
  } catch (error) {
    await cancelMove(query, id);
    throw error;
  } finally {
    endRenewal();
  }
}

async function* checked(stream: IncomingMessage, limit: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  let start = '';
  let isKnown = false;
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length;
    if (bytes > limit) throw payloadTooLarge(limit);
    start += isKnown ? '' : chunk.toString('latin1', 0, 4);
    if (!isKnown && start.length >= 4) requireZip(start);
    isKnown ||= start.length >= 4;
    yield chunk;
  }
  if (!isKnown) requireZip(start);
}

function requireZip(start: string): void {
  if (!beginnings.some((beginning) => start.startsWith(beginning)))
    throw validationFailed({ body: 'is not a zip archive: send the backup as PocketBase made it' });
}
