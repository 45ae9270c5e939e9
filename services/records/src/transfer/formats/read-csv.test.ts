import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { all, piecesOf } from '../../../test/in-pieces.ts';
import { createCsvReader, lineOf, openCsv } from './read-csv.ts';

/** Cells with everything that CSV treats specially. */
const cell = fc.oneof(
  fc.constant(null),
  fc.string({
    unit: fc.constantFrom('a', 'é', '😀', '"', ',', ';', '\n', '\r', ' ', "'", '=', '\t', 'N'),
    maxLength: 8,
  }),
  fc.string({ unit: 'grapheme', maxLength: 8 }),
);

const dialect = fc.record({
  separator: fc.constantFrom(',', ';', '\t', '|', '→'),
  nullText: fc.constantFrom('', 'N', 'NULL'),
});

const lineEnd = fc.constantFrom('\n', '\r\n', '\r');

test("written CSV is read back, in any pieces, and from any row's end [import §3.1, §3.2]", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc
        .integer({ min: 2, max: 4 })
        .chain((width) =>
          fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 8 }),
        ),
      dialect,
      lineEnd,
      fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 5 }),
      fc.nat(),
      async (rows, written, end, sizes, from) => {
        const columns = (rows[0] ?? []).map((_, n) => `c${n}`);
        const text = [columns, ...rows].map((row) => lineOf(row, written)).join(end);
        const bytes = Buffer.from(text);
        const { start, rows: reading, ...header } = await openCsv(piecesOf(bytes, sizes), written);
        const read = await all(reading);
        assert.deepEqual(header.columns, columns);
        assert.deepEqual(
          read.map(({ members }) => Object.values(members)),
          rows,
        );
        assert.deepEqual(
          read.map(({ text: line }) => line()),
          rows.map((row) => lineOf(row, written)),
        );
        const before = from % (rows.length + 1);
        const position = before === 0 ? start : (read[before - 1]?.end ?? 0);
        const rest = createCsvReader(columns, written)(piecesOf(bytes.subarray(position), sizes), {
          position,
          row: before,
        });
        assert.deepEqual(
          (await all(rest)).map(({ row, end: after, members }) => ({ row, after, members })),
          read.slice(before).map(({ row, end: after, members }) => ({ row, after, members })),
        );
      },
    ),
    { numRuns: 300, seed: 1 },
  );
});
