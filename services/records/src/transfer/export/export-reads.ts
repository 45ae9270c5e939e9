import type { Database } from '@recordbus/database';
import type { Settings } from '@recordbus/settings';
import { explainCost } from '../../read/record-reads.ts';
import type { ExportReads } from './open-export.ts';

/** Creates the reads. Each export uses the current settings `records.*`. */
export const createExportReads = (
  { reads }: Pick<Database, 'reads'>,
  settings: Pick<Settings, 'get'>,
): ExportReads => ({
  async openCursor(statement) {
    const cursor = await reads.cursor(statement, settings.get('records.read_timeout_ms')).catch(explainCost);
    return { ...cursor, next: () => cursor.next().catch(explainCost) };
  },
  timeoutMs: () => settings.get('records.export_timeout_ms'),
  maxRecordBytes: () => settings.get('records.max_answer_bytes'),
});
