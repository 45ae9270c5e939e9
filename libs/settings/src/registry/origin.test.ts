import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { admitsOrigin, normalizeOrigin, wildcardProblem } from './origin.ts';

describe("a setting's origin [http §10.1]", () => {
  const normal: Readonly<Record<string, string>> = {
    '*': '*',
    'HTTPS://App.Example.com:443': 'https://app.example.com',
    'https://*.Preview.Example.com': 'https://*.preview.example.com',
    'https://*.example.com:8443': 'https://*.example.com:8443',
    'https://app.*.example.com:443': 'https://app.*.example.com',
    'https://*.münchen.example': 'https://*.xn--mnchen-3ya.example',
    'http://*.localhost:3000': 'http://*.localhost:3000',
    'http://localhost:*': 'http://localhost:*',
    'http://127.0.0.1:*': 'http://127.0.0.1:*',
    'http://[::1]:*': 'http://[::1]:*',
    'capacitor://localhost': 'capacitor://localhost',
  };
  for (const [text, origin] of Object.entries(normal))
    test(`${text} is ${origin}`, () => {
      assert.equal(wildcardProblem(text), undefined);
      assert.equal(normalizeOrigin(text), origin);
    });

  const refused: Readonly<Record<string, RegExp | undefined>> = {
    'https://app-*.example.com': /whole label/,
    'https://*app.example.com': /whole label/,
    'https://*.*.example.com': /one \*/,
    'https://**.example.com': /one \*/,
    'https://*.example.com:*': /one \*/,
    'https://*.com': /two labels/,
    'https://*': /two labels/,
    'https://example.*': /two labels/,
    'https://*.com.': /two labels/,
    'http://localhost:3*': /whole port/,
    'http://192.168.0.*': /two labels/,
    '*://app.example.com': undefined,
    'http*://app.example.com': undefined,
    '*.example.com': undefined,
    'http://192.*.0.1': undefined,
    'http://[*::1]': undefined,
    'http://[*]:80': undefined,
    'https://*.example.com/a': undefined,
    'https://a@*.example.com': undefined,
    'app://*.example.com': undefined,
    'capacitor://localhost:*': undefined,
    'http://localhost:80:*': undefined,
  };
  for (const [text, problem] of Object.entries(refused))
    test(`${text} is refused`, () => {
      assert.equal(normalizeOrigin(text), undefined);
      if (problem) assert.match(wildcardProblem(text) ?? '', problem);
    });
});

describe("a browser's origin", () => {
  const preview = 'https://*.preview.example.com';
  const local = 'http://localhost:*';
  const cases: readonly (readonly [pattern: string, origin: string, isAdmitted: boolean])[] = [
    [preview, 'https://pr-12.preview.example.com', true],
    [preview, 'https://xn--mnchen-3ya.preview.example.com', true],
    [preview, `https://${'a'.repeat(63)}.preview.example.com`, true],
    [preview, `https://${'a'.repeat(64)}.preview.example.com`, false],
    [preview, 'https://preview.example.com', false],
    [preview, 'https://.preview.example.com', false],
    [preview, 'https://a.b.preview.example.com', false],
    [preview, 'http://a.preview.example.com', false],
    [preview, 'https://a.preview.example.com:8443', false],
    [preview, 'https://evil.test/.preview.example.com', false],
    [preview, 'https://evil.test#.preview.example.com', false],
    [preview, 'https://evil:1@a.preview.example.com', false],
    [preview, 'https://a.preview.example.com.evil.test', false],
    [preview, 'https://apreview.example.com', false],
    [preview, 'null', false],
    [preview, preview, false],
    ['https://*.example.com:8443', 'https://a.example.com:8443', true],
    ['https://*.example.com:8443', 'https://a.example.com', false],
    ['https://app.*.example.com', 'https://app.eu.example.com', true],
    ['https://app.*.example.com', 'https://app..example.com', false],
    [local, 'http://localhost', true],
    [local, 'http://localhost:3000', true],
    [local, 'http://localhost:65535', true],
    [local, 'http://localhost:', false],
    [local, 'http://localhost:123456', false],
    [local, 'http://localhost:80.evil.test', false],
    [local, 'http://localhost.evil.test', false],
    [local, 'http://localhost:3000/', false],
    [local, 'https://localhost:3000', false],
    ['http://[::1]:*', 'http://[::1]:5173', true],
  ];
  for (const [pattern, origin, isAdmitted] of cases)
    test(`${origin.slice(0, 80)} is ${isAdmitted ? 'admitted' : 'blocked'} by ${pattern}`, () =>
      assert.equal(admitsOrigin(pattern, origin), isAdmitted));
});
