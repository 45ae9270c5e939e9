import { DatabaseSync } from 'node:sqlite';
import { description, type Size, sizes } from '../seed.ts';

const organizationCount = 50;

/** How many posts belong to the rows' user. */
const ownedCount = 20;

/** Fills the tables in a PocketBase that does not run, with as many records as `seed`, and a user's posts. */
export function fillPocketBase(file: string, userId: string): void {
  const database = new DatabaseSync(file);
  const fill = (table: string, count: number, values: Readonly<Record<string, string>>) => {
    const columns = ['id', 'created', 'updated', ...Object.keys(values)];
    database.exec(`with recursive series(i) as (select 1 union all select i + 1 from series where i < ${count})
insert into ${table} (${columns.map((column) => `"${column}"`).join(', ')})
select ${idOf('i')}, ${time}, ${time}, ${Object.values(values).join(', ')} from series`);
  };
  fill('organizations', organizationCount, { name: "'Organization ' || i" });
  const fillPosts = (table: string, { postCount, authorCount }: (typeof sizes)[Size]) =>
    fill(table, postCount, {
      title: "'Post ' || i",
      description: `substr('${description} ${description}', 1 + (i * 37) % ${description.length}, 600)`,
      public: 'i % 2 = 0',
      author: oneOf(authorCount),
    });
  for (const size of Object.values(sizes)) {
    fill(size.authors, size.authorCount, { name: "'Author ' || i", organization: oneOf(organizationCount) });
    fillPosts(size.posts, size);
  }
  for (const table of ['posts_of_owners', 'posts_of_members']) fillPosts(table, sizes['100k']);
  database.prepare(`update posts_of_owners set author = ? where id <= ${idOf(String(ownedCount))}`).run(userId);
  database.exec('analyze');
  database.close();
}

/** The n-th record's id in SQL: 15 characters, as PocketBase's ids. */
const idOf = (n: string): string => `printf('r%014d', ${n})`;

const time = "strftime('%Y-%m-%d %H:%M:%S', 1700000000 + i, 'unixepoch') || '.000Z'";

const oneOf = (count: number): string => idOf(`1 + (i * 7919) % ${count}`);
