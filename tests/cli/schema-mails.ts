import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { at, listAt } from '../harness/json.ts';
import { filesIn, type startForSchema } from './schema-stack.ts';

interface SchemaFiles {
  readonly here: Awaited<ReturnType<typeof startForSchema>>;
  /** Holds the schema files. */
  readonly directory: string;
  readonly planFile: string;
  /** Environment variables with the secrets that the files name. */
  readonly secrets: Record<string, string>;
  readonly write: (name: string, text: string) => void;
  readonly read: (name: string) => string;
  readonly edit: (name: string, change: (file: Record<string, unknown>) => object) => void;
}

/** Tests the folder `mail` of schema files: pulled, changed, applied, refused, emptied. */
export async function testMailFiles({
  here,
  directory,
  planFile,
  secrets,
  write,
  read,
  edit,
}: SchemaFiles): Promise<void> {
  const texts = {
    'email.verify.subject': 'Welcome',
    'email.verify.body': 'Hello,\r\n\r\n{{link}}',
    'email.verify.subject.de': 'Willkommen',
    'email.verify.body.de-AT': '<p>Servus: <a href="{{link}}">{{link}}</a></p>\n',
  };
  await here.admin.patch('/api/v1/admin/settings', { ...texts, 'mail.locale_field.people': 'nick' });
  const pulled = await here.overHttp(['pull', directory]);
  assert.equal(pulled.code, 0, pulled.stderr);
  const inMail = () =>
    Object.fromEntries(Object.entries(filesIn(directory)).filter(([name]) => name.startsWith('mail/')));
  assert.deepEqual(inMail(), {
    'mail/verify.body.de-AT.html': texts['email.verify.body.de-AT'],
    'mail/verify.body.txt': texts['email.verify.body'],
    'mail/verify.subject.de.txt': 'Willkommen\n',
    'mail/verify.subject.txt': 'Welcome\n',
  });
  assert.match(read('settings.json'), /"mail\.locale_field\.people": "nick"/);
  assert.doesNotMatch(read('settings.json'), /email\./);
  assert.equal((await here.overHttp(['check', directory], secrets)).code, 0);

  write('mail/verify.subject.de.txt', 'Grüß Gott\r\n');
  write('mail/verify.body.fr.txt', 'Bonjour {{email}}\n');
  rmSync(join(directory, 'mail/verify.body.txt'));
  const planned = await here.overHttp(['plan', directory, '--out', planFile, '--json'], secrets);
  assert.deepEqual(
    listAt(JSON.parse(planned.stdout), 'changes')
      .map(({ kind, name }) => `${kind} ${name}`)
      .toSorted(),
    ['setting email.verify.body', 'setting email.verify.body.fr', 'setting email.verify.subject.de'],
  );
  const applied = await here.overHttp(['apply', planFile], secrets);
  assert.equal(applied.code, 0, applied.stderr);
  const { json } = await here.admin.get('/api/v1/admin/settings');
  const settings = at(json, 'data') as Record<string, string>;
  assert.deepEqual(
    [settings['email.verify.subject.de'], settings['email.verify.body.fr'], settings['mail.locale_field.people']],
    ['Grüß Gott', 'Bonjour {{email}}\n', 'nick'],
  );
  // A file keeps its ending, and what settings.json has stays there.
  write('mail/verify.body.fr.txt', '<p>Bonjour</p>');
  edit('settings.json', (file) => ({ ...file, 'email.verify.subject': 'Welcome' }));
  rmSync(join(directory, 'mail/verify.subject.txt'));
  assert.equal((await here.overHttp(['plan', directory, '--out', planFile], secrets)).code, 2);
  assert.equal((await here.overHttp(['apply', planFile], secrets)).code, 0);
  assert.equal((await here.overHttp(['pull', directory])).code, 0);
  assert.match(read('settings.json'), /"email\.verify\.subject": "Welcome"/);
  assert.equal(read('mail/verify.body.fr.txt'), '<p>Bonjour</p>');

  write('mail/reset.body.de.txt', 'Hallo {{code}}');
  const unknown = await here.overHttp(['check', directory], secrets);
  assert.match(unknown.stderr, /mail\/reset\.body\.de\.txt: settings\.email\.reset\.body\.de: \{\{code\}\} is not/);
  write('mail/reset.body.de.html', 'Hallo');
  assert.match((await here.overHttp(['check', directory])).stderr, /is the second text for email\.reset\.body\.de/);
  for (const name of ['reset.body.de.txt', 'reset.body.de.html']) rmSync(join(directory, 'mail', name));
  write('mail/reset.de.body.txt', '');
  assert.match((await here.overHttp(['check', directory])).stderr, /reset\.de\.body\.txt: is not named like verify/);
  rmSync(join(directory, 'mail/reset.de.body.txt'));
  write('mail/hello.body.txt', 'x');
  assert.match((await here.overHttp(['check', directory], secrets)).stderr, /email\.hello\.body: is not known here/);
  rmSync(join(directory, 'mail/hello.body.txt'));
  const kept = read('settings.json');
  rmSync(join(directory, 'settings.json'));
  assert.match((await here.overHttp(['check', directory])).stderr, /verify\.body\.fr\.txt: needs settings\.json/);
  write('settings.json', kept);
  await here.admin.patch(
    '/api/v1/admin/settings',
    Object.fromEntries([...Object.keys(texts), 'email.verify.body.fr'].map((key) => [key, ''])),
  );
  const emptied = await here.overHttp(['pull', directory]);
  assert.equal(emptied.code, 0, emptied.stderr);
  assert.deepEqual(inMail(), {});
}
