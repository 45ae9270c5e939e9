// A program that uses the packed client in each runtime and in a page. It returns its results.
import { createClient, f, isConflict } from '@recordbus/client';

/** @param {string} url @param {string} name */
export async function runEverywhere(url, name) {
  const client = createClient(url);
  const tags = client.from('tags');
  const list = await tags.live({ filter: f`name ~ ${name}`, sort: 'name' });
  const made = await tags.create({ name: `${name} "1"` });
  const changed = await tags.update(made, { name: `${name} 2` });
  const conflict = await tags.update(made, { name: 'lost' }).catch((error) => isConflict(error) && error.version);
  const steps = [];
  const pages = [new File([new Uint8Array(3_000_000)], 'page.bin')];
  const book = await client.from('books').create({ title: name, pages }, { onProgress: (step) => steps.push(step) });
  while (list.records[0]?.name !== changed.name) await new Promise((resolve) => list.onChange(resolve));
  list.close();
  const last = steps.at(-1);
  return {
    name: changed.name,
    live: list.records.length,
    hasConflict: typeof conflict === 'string',
    files: book.pages.length,
    isSent: last !== undefined && last.sent === last.total && last.total >= 3_000_000,
  };
}

const [url, name] = globalThis.process?.argv?.slice(2) ?? [];
// biome-ignore lint/suspicious/noConsole: the runner reads it
if (name) console.log(JSON.stringify(await runEverywhere(url, name)));
