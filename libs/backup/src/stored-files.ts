import type { Query } from '@recordbus/database';
import { loadCollections, quoteLiteral, tableOf } from '@recordbus/schema';
import { type FileKey, fileKey } from '@recordbus/storage';

const pageSize = 5000;

/** Yields every file that records name in the connection's snapshot, by collection and record id. */
export async function* listStoredFiles(query: Query): AsyncGenerator<FileKey> {
  const { collections } = await loadCollections(query);
  for (const collection of collections) {
    const columns = collection.fields.filter(({ type }) => type === 'file').map(({ name }) => name);
    if (collection.type === 'view' || columns.length === 0) continue;
    const text = `select r.id, f.name from (select * from ${tableOf(collection)} where id > $1 order by id limit ${pageSize}) r,
      lateral system.file_names(to_jsonb(r), array[${columns.map(quoteLiteral).join(', ')}]) as f (name) order by r.id`;
    const lastOfPage = `select max(id) as id from (select id from ${tableOf(collection)} where id > $1 order by id limit ${pageSize}) r`;
    for (let after = ''; ; ) {
      const [last] = await query<{ id: string | null }>({ text: lastOfPage, values: [after] });
      if (!last?.id) break;
      for (const { id, name } of await query<{ id: string; name: string }>({ text, values: [after] })) {
        const key = fileKey(collection.id, id, name);
        if (key) yield key;
      }
      after = last.id;
    }
  }
}
