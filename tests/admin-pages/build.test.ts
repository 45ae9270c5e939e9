import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { builtPages } from '../harness/admin-pages.ts';

/** The gzipped bytes that a browser loads before the first screen. */
const budgetBytes = 200_000;

/** Addresses that are names, not places to load from, and the links of messages in the code of Svelte. */
const namesOnly = /^https?:\/\/(www\.w3\.org\/|svelte\.dev\/e\/)/;

/** The reference page of the API, a library with samples of its own. Its policy forbids loads from other origins. */
const ofReference = /(?:^|\/)scalar-/;

describe('the built admin pages', () => {
  let directory: string;
  let index: string;
  before(async () => {
    directory = await builtPages();
    index = readFileSync(join(directory, 'index.html'), 'utf8');
  });

  test('the first load fits its budget', () => {
    const loaded = [...index.matchAll(/(?:src|href)="\/_\/([^"]+)"/g)].map(([, file]) => String(file));
    assert.ok(loaded.some((file) => file.endsWith('.js')) && loaded.some((file) => file.endsWith('.css')), index);
    const sizes = ['index.html', ...loaded].map((file) => gzipSync(readFileSync(join(directory, file))).length);
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    assert.ok(bytes <= budgetBytes, `${bytes} bytes`);
  });

  test('no file names an outside address', () => {
    const files = readdirSync(directory, { recursive: true, encoding: 'utf8' });
    const texts = files.filter((file) => /\.(html|js|css|svg)$/.test(file) && !ofReference.test(file));
    assert.ok(texts.length >= 3);
    for (const file of texts) {
      const addresses =
        readFileSync(join(directory, file), 'utf8').match(/https?:\/\/[\w.-]+\.[a-z]+\/?[^\s"'`)]*/g) ?? [];
      const outside = addresses.filter((address) => !namesOnly.test(address) && !/example\.com/.test(address));
      assert.deepEqual(outside, [], file);
    }
  });

  test('the page has no inline script or style', () => {
    assert.doesNotMatch(index, /<style|style=|<script(?![^>]* src=)|\son\w+=/);
  });
});
