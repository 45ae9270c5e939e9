import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** What a data directory of PocketBase has. */
export interface DataSize {
  readonly records: number;
  readonly accounts: number;
  readonly files: number;
  readonly fileBytes: number;
}

const times = ['2025-01-01 10:00:00.000Z', '2025-01-02 10:00:00.000Z'];
const description = 'Lorem ipsum dolor sit amet, consectetur adipiscing elit. '.repeat(4);
/** By bcrypt, as PocketBase hashes passwords. */
const passwordHash = '$2a$05$Gbxb1Ff3icUEfIaU4oOokecihibm23J0noMRDQx3CaMmNsSoQh7Hm';

const idOf = (kind: string, n: number): string => `${kind}${n}`.padEnd(15, 'x');

/** Makes a data directory with the layout of PocketBase 0.40: posts, each with an author, the first ones with a file. */
export function fillDataDirectory(directory: string, { records, accounts, files, fileBytes }: DataSize): void {
  mkdirSync(directory, { recursive: true });
  const database = new DatabaseSync(join(directory, 'data.db'));
  database.exec(`pragma synchronous = off;
    create table _collections (id text primary key, system boolean, type text, name text unique, fields json, indexes json,
      listRule text, viewRule text, createRule text, updateRule text, deleteRule text, options json, created text, updated text);
    create table _params (id text primary key, value json, created text, updated text);
    create table _externalAuths (id text, collectionRef text, recordRef text, provider text, providerId text);
    insert into _params (id, value) values ('settings', '{}');
    create table moved_people (id text primary key, password, tokenKey, email, emailVisibility, verified, created, updated);
    create table moved_posts (id text primary key, title, description, rank, author, file, created, updated)`);
  define(database, 'moved_people', 'auth', [
    { name: 'password', type: 'password', system: true },
    { name: 'tokenKey', type: 'text', system: true },
    { name: 'email', type: 'email', system: true },
    { name: 'emailVisibility', type: 'bool', system: true },
    { name: 'verified', type: 'bool', system: true },
  ]);
  define(database, 'moved_posts', 'base', [
    { name: 'title', type: 'text' },
    { name: 'description', type: 'text' },
    { name: 'rank', type: 'number' },
    { name: 'author', type: 'relation', collectionId: 'pbc_moved_people', maxSelect: 1 },
    { name: 'file', type: 'file', maxSelect: 1 },
  ]);
  const person = database.prepare('insert into moved_people values (?, ?, ?, ?, 0, 1, ?, ?)');
  const post = database.prepare('insert into moved_posts values (?, ?, ?, ?, ?, ?, ?, ?)');
  const bytes = randomBytes(fileBytes);
  database.exec('begin');
  for (let n = 0; n < accounts; n += 1)
    person.run(idOf('p', n), passwordHash, `t${n}`.padEnd(40, 'k'), `person${n}@example.com`, ...times);
  for (let n = 0; n < records; n += 1) {
    const id = idOf('r', n);
    const file = n < files ? `a_${String(n).padStart(10, '0')}.bin` : '';
    post.run(id, `Post ${n}`, description, n, idOf('p', n % accounts), file, ...times);
    if (file === '') continue;
    bytes.writeUInt32LE(n, 0);
    const folder = join(directory, 'storage', 'pbc_moved_posts', id);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, file), bytes);
  }
  database.exec('commit');
  database.close();
}

function define(database: DatabaseSync, name: string, type: string, own: readonly object[]): void {
  const id = { name: 'id', type: 'text', system: true, primaryKey: true, required: true };
  const created = { name: 'created', type: 'autodate', onCreate: true };
  const updated = { name: 'updated', type: 'autodate', onCreate: true, onUpdate: true };
  const fields = [id, ...own, created, updated].map((field, n) => ({ id: `f${n}`, ...field }));
  const options = { authToken: { secret: 's'.repeat(50), duration: 604_800 }, passwordAuth: { enabled: true } };
  database
    .prepare(`insert into _collections (id, system, type, name, fields, indexes, listRule, viewRule, options)
      values (?, 0, ?, ?, ?, '[]', '', '', ?)`)
    .run(`pbc_${name}`, type, name, JSON.stringify(fields), JSON.stringify(type === 'auth' ? options : {}));
}
