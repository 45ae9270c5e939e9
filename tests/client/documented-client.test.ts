import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { readExamples, runExample } from '../harness/docs/documented.ts';
import { firstAdmin, repository } from '../harness/stacks/stack.ts';
import { onOneProcess } from '../harness/stacks/target.ts';

/** The global that a page's module calls to print. */
const printer = 'recordbusPagePrints';

/** A page's TypeScript as one module, which finds the client and this stack. */
function moduleOf(page: string, url: string): string {
  const blocks = [...page.matchAll(/^```ts\n(.*?)\n```$/gms)].map(([, block = '']) => `{}\n${block}`);
  const source = stripTypeScriptTypes(blocks.join('\n'));
  return source
    .replaceAll("'@recordbus/client'", JSON.stringify(import.meta.resolve('@recordbus/client')))
    .replaceAll('http://localhost:8080', url)
    .replaceAll('console.log(', `${printer}(`);
}

/** The lines that a page's programs print, according to comments after `console.log(…)` and on their own lines. */
const promisedLines = (page: string): string[] =>
  [...page.matchAll(/^```ts\n(.*?)\n```$/gms)].flatMap(([, block = '']) =>
    [...block.matchAll(/(?:^|console\.log\(.*\); *)\/\/ (.*)$/gm)].map(([, line = '']) => line),
  );

for (const file of ['docs/client.md', 'docs/reference/client.md'])
  onOneProcess(`the programs in ${file} print the documented lines`, async (_t, target) => {
    const page = readFileSync(join(repository, file), 'utf8');
    for (const example of readExamples(page)) await runExample(example, new Map(), target);
    const { token } = (await target.guest.post('/api/v1/admin/login', firstAdmin, 200)) as { token?: string };
    process.env.ADMIN_TOKEN = token;
    const lines: string[] = [];
    const print = (...values: readonly unknown[]): unknown =>
      lines.push(values.map((value) => (typeof value === 'string' ? value : inspect(value))).join(' '));
    Reflect.set(globalThis, printer, print);
    await import(`data:text/javascript,${encodeURIComponent(moduleOf(page, target.url))}`);
    assert.ok(lines.length > 5);
    assert.deepEqual(lines, promisedLines(page));
  });
