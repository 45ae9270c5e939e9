import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldKinds } from '@recordbus/admin-pages/field-types';
import { fieldTypeNames } from '@recordbus/extensions';

test('the pages offer every field type', () => {
  assert.deepEqual(fieldKinds.map(({ type }) => type).sort(), [...fieldTypeNames].sort());
});
