import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { all, piecesOf } from '../../../test/in-pieces.ts';
import { readJson } from './read-json.ts';
import { readNdjson } from './read-ndjson.ts';
import type { ReadRows, SourceRow } from './source-row.ts';

const space = fc.constantFrom('', ' ', '\n', '\r\n\t ');

/** Values whose texts have every character with a meaning in the formats. */
const value = fc.jsonValue({ stringUnit: fc.constantFrom('a', '"', '\\', '[', ']', '{', '}', ',', 'é', '\n') });
const row = fc.oneof(
  fc.dictionary(fc.constantFrom('a', 'b"]', 'c,}'), value).map((members) => ({ ...members })),
  value,
);

const formats: Readonly<
  Record<string, { readonly read: ReadRows; write(rows: readonly string[], gap: string): string }>
> = {
  ndjson: {
    read: readNdjson,
    write: (rows, gap) => rows.map((text) => `${gap.replaceAll(/[\r\n]/g, '')}${text}\n${gap}`).join(''),
  },
  json: { read: readJson, write: (rows, gap) => `${gap}[${gap}${rows.join(`${gap},${gap}`)}${gap}]${gap}` },
};

for (const [name, { read, write }] of Object.entries(formats))
  test(`written ${name} is read back, in any pieces, and from any row's end [import §3.3]`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { maxLength: 8 }),
        space,
        fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 5 }),
        fc.nat(),
        async (rows, gap, sizes, from) => {
          const texts = rows.map((one) => JSON.stringify(one));
          const bytes = Buffer.from(write(texts, gap));
          const found = await all(read(piecesOf(bytes, sizes), { position: 0, row: 0 }));
          assert.deepEqual(
            found.map(({ text }) => text().trim()),
            texts,
          );
          for (const [n, { members, problem }] of found.entries()) {
            const isObject = typeof rows[n] === 'object' && rows[n] !== null && !Array.isArray(rows[n]);
            assert.equal(problem === undefined, isObject);
            if (isObject) assert.deepEqual(members, JSON.parse(texts[n] ?? ''));
          }
          const before = from % (rows.length + 1);
          const position = found[before - 1]?.end ?? 0;
          const rest = await all(read(piecesOf(bytes.subarray(position), sizes), { position, row: before }));
          const placeOf = ({ row: number, end, members }: SourceRow) => ({ number, end, members });
          assert.deepEqual(rest.map(placeOf), found.slice(before).map(placeOf));
        },
      ),
      { numRuns: 300, seed: 1 },
    );
  });
