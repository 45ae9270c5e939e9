import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import type { ArchiveWriter } from './archive-writer.ts';
import { dataFolder, type SchemaDocument } from './manifest.ts';

type StoredTable = SchemaDocument['tables'][number];

/** The rows of a table are split into entries of this size: the size of an entry must be known before it is written. */
const partBytes = 4 * 1024 * 1024;

const columnsOf = ({ name, columns }: StoredTable): string => `${name} (${columns.join(', ')})`;

/** Writes the rows of a table in PostgreSQL's text format. Returns the number of rows. */
export async function dumpTable(
  client: pg.Client,
  archive: ArchiveWriter,
  table: StoredTable,
  index: number,
): Promise<number> {
  const rows = client.query(copyTo(`copy ${columnsOf(table)} to stdout`));
  let part: Buffer[] = [];
  let sizeBytes = 0;
  let parts = 0;
  let rowCount = 0;
  const flush = async (): Promise<void> => {
    parts += 1;
    await archive.add(`${dataFolder}${index}/${String(parts).padStart(6, '0')}`, Buffer.concat(part));
    part = [];
    sizeBytes = 0;
  };
  for await (const chunk of rows) {
    part.push(chunk);
    rowCount += linesIn(chunk);
    sizeBytes += chunk.length;
    if (sizeBytes >= partBytes) await flush();
  }
  if (sizeBytes > 0) await flush();
  return rowCount;
}

/** Counts line ends: one for each row, as the format escapes those in values. The stream's own count may come after its end. */
export function linesIn(chunk: Buffer): number {
  let lines = 0;
  for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, end + 1)) lines += 1;
  return lines;
}

/** An entry of an archive with rows of a table. */
interface DataEntry {
  readonly name: string;
  readonly stream: Readable;
}

/** Loads tables from entries, one after the other in the order of the archive. */
export interface TableLoader {
  take(entry: DataEntry): Promise<void>;
  /** Completes the last table. Returns how many rows all tables have. */
  finish(): Promise<number>;
}

/** Creates a loader on a connection in a transaction. */
export function createTableLoader(client: pg.Client, tables: readonly StoredTable[]): TableLoader {
  let current: { readonly index: number; readonly stream: ReturnType<typeof openTable> } | undefined;
  let rows = 0;
  const openTable = (index: number) => {
    const table = tables[index];
    if (!table) throw new Error(`the archive has rows for a table ${index} that it does not describe`);
    return client.query(copyFrom(`copy ${columnsOf(table)} from stdin`));
  };

  async function end(): Promise<void> {
    if (!current) return;
    const { stream } = current;
    current = undefined;
    stream.end();
    await finished(stream);
    rows += stream.rowCount;
  }

  return {
    async take({ name, stream: bytes }) {
      const index = Number(name.slice(dataFolder.length).split('/', 1)[0]);
      if (current?.index !== index) {
        await end();
        current = { index, stream: openTable(index) };
      }
      const { stream } = current;
      const failure = Promise.withResolvers<never>();
      failure.promise.catch(() => {});
      stream.once('error', failure.reject);
      for await (const chunk of bytes)
        if (!stream.write(chunk))
          await Promise.race([new Promise((resolve) => stream.once('drain', resolve)), failure.promise]);
      stream.off('error', failure.reject);
    },
    async finish() {
      await end();
      return rows;
    },
  };
}
