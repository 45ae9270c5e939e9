import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Settings } from '@recordbus/settings';
import { requiresTls } from './requires-tls.ts';

const settingsOf = (host: string, required?: boolean): Pick<Settings, 'get'> => ({
  get: ((key: string) => (key === 'smtp.host' ? host : required)) as Settings['get'],
});

test('TLS is required when mail leaves this machine [mail §1.3]', () => {
  for (const host of ['smtp.example.com', '10.0.0.1', '::2', 'localhost.example.com', 'mailcatcher', '128.0.0.1'])
    assert.equal(requiresTls(settingsOf(host)), true, host);
  for (const host of ['localhost', 'mail.localhost.', 'LOCALHOST', '127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'])
    assert.equal(requiresTls(settingsOf(host)), false, host);
});

test('smtp.require_tls decides when it is set [mail §1.3]', () => {
  assert.equal(requiresTls(settingsOf('127.0.0.1', true)), true);
  assert.equal(requiresTls(settingsOf('smtp.example.com', false)), false);
});
