import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { runExamples } from '../harness/documented.ts';
import { onEachTopology, stackEnvironment } from '../harness/target.ts';

const page = readFileSync(new URL('../../docs/extensions.md', import.meta.url), 'utf8');
const directory = mkdtempSync(join(tmpdir(), 'recordbus-test-extensions-'));

/** The extensions of the page as files: each block of code says in its first line what it is called. */
for (const [, name = '', source = ''] of page.matchAll(/^```ts\n\/\/ extensions\/(\S+)\n(.*?)\n```$/gms))
  writeFileSync(join(directory, name), source);
stackEnvironment.SERVICE_EXTENSIONS_DIR = directory;
after(() => rmSync(directory, { recursive: true }));

onEachTopology('the page on extensions is right', (t, target) => runExamples(t, target, 'extensions.md'));
