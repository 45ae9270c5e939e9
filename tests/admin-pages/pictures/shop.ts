import type { Client } from '../../harness/clients/client.ts';
import { eventually } from '../../harness/eventually.ts';
import { listAt } from '../../harness/json.ts';
import type { Receiver } from '../../harness/servers/receiver.ts';

const titles = [
  ['The Left Hand of Darkness', 'Ursula K. Le Guin', 1969],
  ['Kindred', 'Octavia E. Butler', 1979],
  ['Solaris', 'Stanisław Lem', 1961],
  ['Beloved', 'Toni Morrison', 1987],
  ['The Master and Margarita', 'Mikhail Bulgakov', 1967],
  ['Ficciones', 'Jorge Luis Borges', 1944],
  ['Things Fall Apart', 'Chinua Achebe', 1958],
  ['Middlemarch', 'George Eliot', 1871],
  ['Season of Migration to the North', 'Tayeb Salih', 1966],
  ['The Tale of Genji', 'Murasaki Shikibu', 1021],
  ['Invisible Cities', 'Italo Calvino', 1972],
  ['Pedro Páramo', 'Juan Rulfo', 1955],
] as const;

const shelves = ['new', 'classic', 'on loan'] as const;

/** The ids that the pictures need. */
export interface Shop {
  readonly book: string;
  readonly event: string;
}

/** Fills a stack with a bookshop, some webhooks, one of which fails, and an hour's work. */
export async function fillShop(admin: Client, receiver: Receiver): Promise<Shop> {
  await admin.patch('/api/v1/admin/settings', { 'hooks.http.allow': '127.0.0.1' });
  const base = { create_rule: '', update_rule: '', delete_rule: '', history_enabled: true };
  await admin.post('/api/v1/collections', { name: 'members', type: 'auth', fields: [{ name: 'name', type: 'text' }] });
  await admin.post('/api/v1/collections', {
    name: 'books',
    ...base,
    fields: [
      { name: 'title', type: 'text', required: true },
      { name: 'author', type: 'text' },
      { name: 'year', type: 'number' },
      { name: 'shelf', type: 'select', options: { values: shelves } },
      { name: 'borrower', type: 'relation', collection: 'members' },
      { name: 'due', type: 'date' },
    ],
  });
  await admin.post('/api/v1/collections', {
    name: 'loans',
    ...base,
    create_rule: '@request.auth.id != ""',
    fields: [{ name: 'book', type: 'relation', collection: 'books' }],
  });
  await admin.post('/api/v1/collections', {
    name: 'guestbook',
    ...base,
    create_rule: null,
    fields: [{ name: 'says', type: 'text' }],
  });
  receiver.behave((path) =>
    path.endsWith('mail') ? { status: 503, body: 'The mail server is away.' } : { status: 200 },
  );
  const hook = (name: string, more: object) =>
    admin.post('/api/v1/admin/webhooks', { name, events: ['books.*'], ...more });
  await hook('search index', { url: receiver.url });
  await hook('warehouse', { url: `${receiver.url}/warehouse`, events: ['books.*', 'loans.*'] });
  await hook('newsletter', { url: `${receiver.url}/mail`, retry_max: 2, retry_delay_ms: 300 });
  const members: string[] = [];
  for (const name of ['Ada Lovelace', 'Grace Hopper'])
    members.push((await admin.create('members', { name, email: `${name.split(' ', 1)}@example.com` })).id);
  const ids: string[] = [];
  for (const [index, [title, author, year]] of titles.entries()) {
    const values = { title, author, year, shelf: shelves[index % 3] };
    const isLent = values.shelf === 'on loan';
    ids.push(
      (await admin.create('books', { ...values, ...(isLent && { borrower: members[index % members.length] }) })).id,
    );
  }
  const [book = ''] = ids;
  await admin.patch(`/api/v1/books/${ids[3]}`, {
    shelf: 'on loan',
    borrower: members[0],
    due: Math.floor(Date.now() / 1000) + 1_209_600,
  });
  for (let round = 0; round < 40; round += 1) {
    await admin.get(`/api/v1/books/${ids[round % ids.length]}`);
    await admin.get('/api/v1/books?perPage=5');
    if (round % 9 === 0) await admin.get('/api/v1/books/none');
  }
  await admin.patch(`/api/v1/books/${book}`, { shelf: 'on loan', borrower: members[1] });
  const event = await eventually('the last event has every attempt', async () => {
    const { json } = await admin.get(`/api/v1/admin/events?record=${book}&event=books.update`);
    const [found] = listAt(json, 'data');
    const counts = found?.counts as Record<string, number> | undefined;
    if (!found || counts?.dead !== 1 || counts.success !== 2) throw new Error(JSON.stringify(counts));
    return String(found.id);
  });
  return { book, event };
}
