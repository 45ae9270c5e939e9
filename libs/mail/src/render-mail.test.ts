import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fixedSettings } from '@recordbus/settings/testing';
import type { SettingsTemplate } from './mail.ts';
import { renderMail } from './render-mail.ts';

const render = (changes: Readonly<Record<string, string>>, content: Partial<Parameters<typeof renderMail>[1]> = {}) =>
  renderMail(fixedSettings(changes), {
    template: 'verify',
    to: 'ada@example.com',
    variables: {
      collection: 'users',
      token: 'the-token',
      code: '012345',
      newEmail: 'new@example.com',
      removed: 'it',
      webhook: 'North',
      host: 'north.example',
      since: '2026-01-31 14:05 UTC',
      reason: 'its receiver asked for it',
    },
    ...content,
  });

const links: Record<SettingsTemplate, string | undefined> = {
  verify: 'https://app.example/verify-email?collection=users&token=the-token',
  reset: 'https://app.example/reset-password?collection=users&token=the-token',
  otp: 'https://app.example/sign-in?collection=users&token=the-token',
  mfa: undefined,
  change: 'https://app.example/confirm-email-change?collection=users&token=the-token',
  change_notice: undefined,
  change_undo: 'https://app.example/undo-email-change?collection=users&token=the-token',
  password_notice: undefined,
  removed_notice: undefined,
  webhook_failing: undefined,
  webhook_disabled: undefined,
};

for (const [template, link] of Object.entries(links) as [SettingsTemplate, string | undefined][]) {
  test(`the default template ${template} fills every variable, in text and HTML [mail §2.2]`, () => {
    const { subject, text, html } = render({ 'app.url': 'https://app.example/' }, { template });
    assert.doesNotMatch(subject + text + html, /\{\{|\}\}|undefined/);
    const isCode = template === 'otp' || template === 'mfa';
    assert.match(text, isCode ? /012345/ : /ada@example\.com/);
    if (template === 'change_notice') assert.match(text, /to new@example\.com/);
    if (!link) return assert.doesNotMatch(text + html, /the-token/);
    assert.ok(text.includes(`\n${link}\n`), text);
    const inHtml = link.replace('&', '&amp;');
    assert.ok(html.includes(`<a href="${inHtml}">${inHtml}</a>`), html);
  });
}

test('a template can use every variable, with or without spaces inside the braces [mail §2.3]', () => {
  const { text } = render(
    {
      'app.url': 'https://app.example',
      'email.otp.body': '{{email}} {{ token }} {{code}} {{collection}} {{appUrl}}\n{{link}}',
    },
    { template: 'otp' },
  );
  assert.equal(text, `ada@example.com the-token 012345 users https://app.example\n${links.otp}`);
});

test('without app.url a link is only its path with the token [mail §2.4]', () => {
  assert.match(render({}).text, /\n\/verify-email\?collection=users&token=the-token\n/);
});

test('values are escaped in HTML and are not read as templates [mail §2.5]', () => {
  const to = `"<b>&'{{token}}@example.com`;
  const { text, html } = render({ 'email.verify.body': 'Hello {{email}}!' }, { to });
  assert.equal(text, `Hello ${to}!`);
  assert.equal(bodyOf(html), '<p>Hello &quot;&lt;b&gt;&amp;&#39;{{token}}@example.com!</p>');
});

test('the HTML part escapes a text template [mail §2.5]', () => {
  assert.equal(
    bodyOf(render({ 'email.verify.body': 'Questions? <help@example.com>\n1 < 2\n\nBye' }).html),
    '<p>Questions? &lt;help@example.com&gt;<br>\n1 &lt; 2</p>\n<p>Bye</p>',
  );
});

/** Returns what is between a document's body tags. */
const bodyOf = (html: string): string | undefined => /<body>\n([\s\S]*)\n<\/body>/.exec(html)?.[1];

test('every HTML part is a whole document [mail §2.5]', () => {
  const own = (variables: Record<string, string>) => render({ 'email.lang': 'pt-BR' }, { template: 'own', variables });
  for (const { html } of [
    render({ 'email.lang': 'pt-BR', 'email.verify.subject': 'a <b> & c' }),
    render({ 'email.lang': 'pt-BR', 'email.verify.subject': 'a <b> & c', 'email.verify.body': '<p>Hello</p>' }),
    own({ subject: 'a <b> & c', text: 'Hello' }),
    own({ subject: 'a <b> & c', text: 'Hello', html: '<p>Hello</p>' }),
  ]) {
    assert.match(html, /^<!doctype html>\n<html lang="pt-BR">\n<head>\n<meta charset="utf-8">/);
    assert.match(html, /<title>a &lt;b&gt; &amp; c<\/title>/);
    assert.match(html, /<\/body>\n<\/html>\n$/);
  }
  const whole = '<!DOCTYPE html><html lang="fr"><body><p>x</p></body></html>';
  assert.equal(render({ 'email.verify.body': whole }).html, whole);
});

test('an HTML template is sent unchanged, with a text part made from it [mail §2.5]', () => {
  const body =
    '<html><head><title>x</title><style>p { color: red }</style></head>\n<body><p>Hello <b>{{email}}</b>,</p>\n<!-- note --><p><a href="{{link}}">Confirm</a> &amp; enjoy</p></body></html>';
  const { text, html } = render(
    { 'app.url': 'https://app.example', 'email.verify.body': body },
    { to: 'a&b@example.com' },
  );
  assert.equal(text, `Hello a&b@example.com,\nConfirm (${links.verify}) & enjoy`);
  assert.ok(html.startsWith('<!doctype html>\n<html><head><title>x</title>'), html);
  assert.ok(html.includes('<b>a&amp;b@example.com</b>'), html);
  assert.ok(html.includes(`href="${links.verify?.replace('&', '&amp;')}"`), html);
});

test('a mail has the texts in its language, in the nearest one, or the default [mail §2.7]', () => {
  const texts = {
    'email.lang': 'en-GB',
    'email.verify.subject': 'Welcome',
    'email.verify.body': 'Hello {{email}}',
    'email.verify.subject.de': 'Willkommen',
    'email.verify.body.de': 'Hallo {{email}}',
    'email.verify.body.de-AT': '<p>Servus {{email}}</p>',
    'email.verify.subject.fr': 'Bienvenue',
  };
  const inLanguage = (lang?: string) => {
    const { subject, text, html } = render(texts, { variables: lang === undefined ? {} : { lang } });
    return [subject, text, /<html lang="([^"]*)">/.exec(html)?.[1]];
  };
  assert.deepEqual(inLanguage('de-AT'), ['Willkommen', 'Servus ada@example.com', 'de-AT']);
  assert.deepEqual(inLanguage('de-CH'), ['Willkommen', 'Hallo ada@example.com', 'de']);
  assert.deepEqual(inLanguage('de'), ['Willkommen', 'Hallo ada@example.com', 'de']);
  assert.deepEqual(inLanguage('fr-BE'), ['Bienvenue', 'Hello ada@example.com', 'en-GB']);
  for (const other of ['it', '', undefined])
    assert.deepEqual(inLanguage(other), ['Welcome', 'Hello ada@example.com', 'en-GB']);
});

test('a line break in a subject does not begin a header [mail §2.6]', () => {
  const { subject } = render({ 'email.verify.subject': 'For {{email}}' }, { to: 'a\r\nBcc: eve@example.com\u2028x' });
  assert.equal(subject, 'For a Bcc: eve@example.com x');
});
