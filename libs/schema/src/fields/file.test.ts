import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertOptionsRefused, assertReads, narrowingsOf, testField } from '../../test/test-field.ts';
import { type FileOptions, needsToken } from './file.ts';
import { fieldTypeOf } from './index.ts';

const refusal = new Error("must be a stored file's name");

test("a single file is the a stored file's name", () => {
  assertReads(testField('file'), [
    ['photo_0123456789.jpg', 'photo_0123456789.jpg'],
    ['../../etc/passwd', refusal],
    ['.hidden', refusal],
    ['a/b', refusal],
    ['x'.repeat(201), refusal],
    [['photo_0123456789.jpg'], refusal],
    [1, refusal],
  ]);
});

test("several files are different stored files' names", () => {
  assertReads(testField('file', { multiple: true }), [
    [[], '[]'],
    [['b.txt', 'a.txt', 'b.txt'], '["b.txt","a.txt"]'],
    [['a.txt', '..'], refusal],
    ['a.txt', new Error('must be a list of names')],
  ]);
});

test('the column is text, or a list in JSON', () => {
  const [one, several] = [testField('file'), testField('file', { multiple: true })];
  assert.deepEqual([fieldTypeOf(one).columnType(one), fieldTypeOf(several).columnType(several)], ['text', 'jsonb']);
});

test('options are completed with their defaults [fields §3.15]', () => {
  assert.deepEqual(testField('file').options, {
    maxSize: 0,
    mimeTypes: [],
    thumbs: [],
    multiple: false,
    max: 0,
    public: false,
    protected: false,
    viewRule: null,
    requireAuth: false,
    oneTimeToken: false,
    bindTokenIp: false,
    auditDownloads: false,
  });
});

test('invalid options are refused by name', () => {
  const pattern = 'must be a content type such as image/png or image/*';
  const size = 'must be a size such as 100x100, 0x100 or 100x100f';
  assertOptionsRefused('file', [
    [{ maxSize: -1 }, { maxSize: 'must be a whole number of bytes' }],
    [{ maxSize: 1.5 }, { maxSize: 'must be a whole number of bytes' }],
    [{ mimeTypes: 'image/*' }, { mimeTypes: 'must be a list of content types' }],
    [{ mimeTypes: ['image', '*/png'] }, { 'mimeTypes.0': pattern, 'mimeTypes.1': pattern }],
    [{ thumbs: '10x10' }, { thumbs: 'must be a list of sizes' }],
    [{ thumbs: ['0x0', '4097x1'] }, { 'thumbs.0': size, 'thumbs.1': 'may have sides of at most 4096' }],
    [{ thumbs: Array(21).fill('10x10') }, { thumbs: 'must have at most 20 entries' }],
    [{ protected: 'yes' }, { protected: 'must be true or false' }],
    [{ viewRule: 1 }, { viewRule: 'must be an expression, empty or null' }],
  ]);
});

test('a view rule is null or empty', () => {
  assert.equal(testField('file', { viewRule: '' }).options.viewRule, '');
  assert.equal(testField('file', { viewRule: null }).options.viewRule, null);
});

test('patterns are kept in lower case', () => {
  assert.deepEqual(testField('file', { mimeTypes: ['Image/*'] }).options.mimeTypes, ['image/*']);
});

test('oneTimeToken and bindTokenIp imply protected [files §7.2]', () => {
  const needs = (options: object) => needsToken(testField('file', options).options as FileOptions);
  assert.equal(needs({}), false);
  for (const option of ['protected', 'oneTimeToken', 'bindTokenIp']) assert.equal(needs({ [option]: true }), true);
});

test('one file instead of several is checked against the rows', () => {
  assert.deepEqual(narrowingsOf('file', { multiple: true }, {}), [['multiple', 'jsonb_array_length("f") > 1']]);
  assert.deepEqual(narrowingsOf('file', {}, { multiple: true }), []);
});
