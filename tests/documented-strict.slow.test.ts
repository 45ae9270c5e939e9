import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, test } from 'node:test';
import { createStrictProject } from './harness/docs/strict-project.ts';
import { repository } from './harness/stacks/stack.ts';

const directory = mkdtempSync(join(tmpdir(), 'recordbus-documented-strict-'));
after(() => rmSync(directory, { recursive: true }));
const project = createStrictProject(directory);

test('the extensions in the tutorial and on the pages about extensions and jobs compile in strict mode', async () => {
  const files: string[] = [];
  for (const page of ['docs/tutorial.md', 'docs/extensions.md', 'docs/jobs.md'])
    for (const [, path = '', source = ''] of readFileSync(join(repository, page), 'utf8').matchAll(
      /^```ts\n\/\/ (\S+\.ts)\n(.*?)\n```$/gms,
    )) {
      project.write(basename(path), source);
      files.push(basename(path));
    }
  assert.ok(files.includes('tasks.ts'), 'the hook of the tutorial');
  assert.ok(files.length > 5);
  await project.compile(...files);
});

/** An extension whose jobs `enqueue` knows, and another one that asks for them. */
const letters = `
import { defineExtension, job, type JobsOf, route, z } from '@recordbus/extensions';

const jobs = {
  send: job({
    input: z.object({ to: z.string(), copies: z.number().default(1), day: z.string().transform(Number) }),
    key: ({ to }) => to,
    async handler({ input, id, attempt, key, progress }, tools): Promise<void> {
      const numbers: number[] = [input.copies, input.day, attempt];
      const texts: (string | undefined)[] = [input.to, id, key];
      await progress(50, 'half');
      await tools.transaction(({ jobs }) => jobs.enqueue('letters.file', 'x', { in_s: 1 }));
      void [numbers, texts];
    },
  }),
  file: job({ input: z.string(), retry: { max: 3, backoff: [1, 2] }, handler: ({ input }) => input.length }),
};

declare module '@recordbus/extensions' {
  interface Jobs extends JobsOf<'letters', typeof jobs> {}
}

export const extension = defineExtension({ jobs });
`;
const desk = `
import { defineExtension, job, route, z } from '@recordbus/extensions';

// @ts-expect-error a job needs a schema
job({ handler() {} });

export const extension = defineExtension({
  hooks: {
    desks: {
      async beforeUpdate({ id }, { jobs }) {
        const { isNew }: { isNew: boolean } = await jobs.enqueue('letters.send', { to: id, day: '3' }, { priority: 3 });
        await jobs.enqueue('letters.file', 'x');
        // @ts-expect-error there is no such job
        await jobs.enqueue('letters.burn', 'x');
        // @ts-expect-error the day is missing
        await jobs.enqueue('letters.send', { to: id });
        // @ts-expect-error it takes a text
        await jobs.enqueue('letters.file', 3);
        // @ts-expect-error there is no such option
        await jobs.enqueue('letters.file', 'x', { inSec: 3 });
        const cancelled: number = await jobs.cancel(id, 'letters.send');
        void [isNew, cancelled];
      },
    },
  },
  routes: [
    // @ts-expect-error it takes a text
    route({ method: 'POST', path: '/desks', handler: (_request, { jobs }) => jobs.enqueue('letters.file', 3) }),
  ],
});
`;

test('enqueue knows the names and inputs of jobs, in other extensions too', async () => {
  const own = mkdtempSync(join(tmpdir(), 'recordbus-typed-jobs-'));
  after(() => rmSync(own, { recursive: true }));
  const typed = createStrictProject(own);
  typed.write('letters.ts', letters);
  typed.write('desk.ts', desk);
  await typed.compile('letters.ts', 'desk.ts');
});
