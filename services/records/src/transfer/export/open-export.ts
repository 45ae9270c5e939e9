import type { Readable } from 'node:stream';
import type { Cursor, Statement } from '@recordbus/database';
import { malformedParameter } from '@recordbus/errors';
import type { Collection, FieldEncryption } from '@recordbus/schema';
import type { RuleContext } from '../../rules/rule-context.ts';
import { createDecryptRecord } from '../../shape/decrypt-answer.ts';
import { cellsOf } from '../cells.ts';
import { createCsvWriter } from '../formats/csv-writer.ts';
import { createJsonWriter, createNdjsonWriter, type FormatWriter } from '../formats/format-writer.ts';
import { type ComposedExport, composeExport } from './compose-export.ts';
import { stalledMs } from './export-limits.ts';
import type { ExportRequest } from './export-query.ts';
import { watchedStream } from './watched-stream.ts';
import { writeRecords } from './write-records.ts';

/** Reads for exports, within limits on connections and time (export §4). */
export interface ExportReads {
  /** Opens a cursor over records. Throws 429 or 503 without a free connection, and 422 for a part that takes too long. */
  openCursor(statement: Statement): Promise<Cursor>;
  /** How long an export may take, in milliseconds. */
  timeoutMs(): number;
  /** How many bytes one record may have. */
  maxRecordBytes(): number;
}

/**
 * Opens an export: reads the first records from a snapshot, and returns the whole stream. Throws 400 for an invalid
 * filter, sort or expand. A later failure breaks the stream off.
 */
export async function openExport(
  { openCursor, timeoutMs, maxRecordBytes }: ExportReads,
  collection: Collection,
  request: ExportRequest,
  ruleContext: RuleContext,
  encryption: FieldEncryption,
): Promise<Readable> {
  if (request.bom && request.format !== 'csv') throw malformedParameter('bom', 'is only for CSV');
  const maxBytes = maxRecordBytes();
  const composed = composeExport(collection, request, { ...ruleContext, maxBytes });
  const decrypt = createDecryptRecord(encryption, composed.projection, maxBytes);
  const writer = createWriter(collection, request, composed);
  const cursor = await openCursor(composed.statement);
  try {
    const source = { first: await cursor.next(), cursor, decrypt };
    const stream = watchedStream(writeRecords(source, writer), {
      stalledMs,
      totalMs: timeoutMs(),
      isWanted: () => cursor.isWanted(),
    });
    stream.once('close', () => void cursor.close());
    return stream;
  } catch (error) {
    await cursor.close();
    throw error;
  }
}

function createWriter(
  collection: Collection,
  { format, raw, bom }: ExportRequest,
  { members }: Pick<ComposedExport, 'members'>,
): FormatWriter {
  if (format === 'ndjson') return createNdjsonWriter();
  if (format === 'json') return createJsonWriter();
  const writer = createCsvWriter(members, cellsOf(collection, { isRaw: raw }));
  return bom ? { ...writer, start: `\ufeff${writer.start}` } : writer;
}
