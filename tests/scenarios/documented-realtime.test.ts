import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { readExamples, runExample } from '../harness/docs/documented.ts';
import { eventually } from '../harness/eventually.ts';
import { textAt } from '../harness/json.ts';
import { differences, is } from '../harness/matching.ts';
import { type Child, endChild, startChild } from '../harness/processes/child.ts';
import { firstAdmin, repository } from '../harness/stacks/stack.ts';
import { onOneProcess, type Target } from '../harness/stacks/target.ts';

const page = readFileSync(join(repository, 'docs/realtime.md'), 'utf8');

/** A request with its answer, commands, events that the last commands print, or a part of the program. */
const blocks = [...page.matchAll(/^```(http|sh|text|js)\n(.*?)\n```$(?:\s*^```json[^\n]*\n.*?\n```$)?/gms)].map(
  ([whole, kind = '', text = '']) => ({ whole, kind, text }),
);

interface StreamEvent {
  readonly type: string;
  /** Its JSON text. */
  readonly data: string;
}

/** Reads events as the page and curl write them. The page wraps long JSON and leaves out the ids. */
const eventsIn = (text: string): readonly StreamEvent[] =>
  text.split('\n\n').flatMap((part) => {
    const [, type = '', data] = /^event: (\w+)\n(?:id: [^\n]*\n)?data: (.*)$/s.exec(part.trim()) ?? [];
    return data === undefined ? [] : [{ type, data }];
  });

function expectedOf(data: string, names: ReadonlyMap<string, string>): unknown {
  const filled = data.replaceAll(/<(\w+)>/g, (whole, name: string) => names.get(name) ?? whole);
  return JSON.parse(filled, (key, value) => {
    if (value === '<cursor>') return is.matching(/^\d+-\d+$/);
    if (value === '<version>') return is.version;
    return key === 'created' || key === 'updated' || key === 'at' ? is.now : value;
  });
}

/** Runs a block's commands against this stack until the test ends. */
function run(t: TestContext, { url }: Target, commands: string): Child {
  const shell = startChild('sh', ['-c', `exec 2>&1\nURL=${url}\n${commands.replace(/^URL=.*\n/, '')}`], {
    detached: true,
  });
  t.after(async () => {
    if (shell.isRunning) process.kill(-shell.pid, 'SIGTERM');
    await endChild(shell);
  });
  return shell;
}

onOneProcess('the examples in docs/realtime.md work', async (t, target) => {
  const names = new Map<string, string>();
  let shell: Child | undefined;
  let seen = 0;
  for (const { whole, kind, text } of blocks) {
    await t.test(text.split('\n')[0], async () => {
      if (kind === 'http') for (const example of readExamples(whole)) await runExample(example, names, target);
      if (kind === 'sh') {
        shell = run(t, target, text);
        seen = 0;
      }
      if (kind !== 'text') return;
      const expected = eventsIn(text);
      assert.ok(expected.length > 0, text);
      const printed = await eventually('the events are printed', () => {
        const events = eventsIn(shell?.lines.join('\n') ?? '')
          .filter(({ type }) => type !== 'heartbeat')
          .slice(seen);
        return events.length >= expected.length && events;
      });
      seen += printed.length;
      assert.deepEqual(
        printed.map(({ type }) => type),
        expected.map(({ type }) => type),
      );
      for (const [place, { data }] of printed.entries())
        assert.deepEqual(differences(JSON.parse(data), expectedOf(expected[place]?.data ?? '', names)), []);
    });
  }
});

onOneProcess('the program in docs/realtime.md keeps a list right', async (t, target) => {
  const directory = mkdtempSync(join(tmpdir(), 'recordbus-realtime-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const admin = await target.admin();
  const { token } = await target.guest.post('/api/v1/admin/login', firstAdmin, 200);
  const { json } = await target.guest.get('/api/v1/tasks');
  const source = blocks
    .filter(({ kind }) => kind === 'js')
    .map(({ text }) => text)
    .join('\n')
    .replace("'http://localhost:8080'", JSON.stringify(target.url))
    .replace("'…'", JSON.stringify(token));
  writeFileSync(join(directory, 'program.mjs'), source);
  const program = startChild(process.execPath, ['--experimental-eventsource', join(directory, 'program.mjs')]);
  t.after(() => endChild(program));
  const prints = (line: string) =>
    eventually(`the program prints ${line}`, () => {
      assert.ok(program.isRunning, program.lines.join('\n'));
      return program.lines.includes(line);
    });

  await prints(`snapshot ${textAt(json, 'data.0.title')}`);
  await prints('WebSocket authenticated ');
  await prints('WebSocket ready ');
  const { id } = await admin.create('tasks', { title: 'Read' });
  await prints('create Write, Read');
  await prints('WebSocket create Read');
  await admin.patch(`/api/v1/tasks/${id}`, { title: 'Listen' });
  await prints('update Write, Listen');
  await admin.delete(`/api/v1/tasks/${id}`);
  await prints('delete Write');
  await prints('WebSocket delete ');
});
