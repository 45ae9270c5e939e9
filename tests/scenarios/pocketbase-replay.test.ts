import assert from 'node:assert/strict';
import { onEachTopology } from '../harness/stacks/target.ts';
import { ourSide } from '../pocketbase-clients/ours.ts';
import { openRawStream, type RawStream } from '../pocketbase-clients/raw-stream.ts';
import { castOf, idOf } from '../pocketbase-clients/side.ts';

/** Texts of the notes that came. */
const textsOf = ({ messages }: RawStream) => messages.map(({ data }) => data.record?.text ?? data.record?.name);

onEachTopology('a PocketBase client that comes back gets what it missed', async (t, target) => {
  const cast = await castOf(ourSide(target));
  const { alice, bob, url } = cast;
  const admin = await target.admin();
  const [token, bobs] = [alice.authStore.token, bob.authStore.token];
  const write = (text: string) => alice.collection('notes').create({ text, author: idOf(alice) });
  const tag = (name: string) => alice.collection('tags').create({ name });
  /** Creates a tag, and waits until it is sent: later streams get it only as a missed one. */
  const tagAndSend = async (name: string) => {
    const watcher = await openRawStream(url, ['tags/*'], { token: cast.admin.authStore.token });
    await tag(name);
    await watcher.waitFor('name', name);
    await watcher.cut();
  };
  /** Follows, and leaves. */
  const leave = async (topics: readonly string[], given?: string) => {
    const stream = await openRawStream(url, topics, { token: given });
    await stream.cut();
  };

  await t.test('for an account, by its topics', async () => {
    await leave(['notes/*', 'tags/*?options={"query":{"fields":"name"}}'], token);
    await write('missed');
    await tag('missed tag');
    const back = await openRawStream(url, ['tags/*?options={"query":{"fields":"name"}}', 'notes/*', 'posts/*'], {
      token,
    });
    await back.waitFor('text', 'missed');
    await back.waitFor('name', 'missed tag');
    await write('later');
    await back.waitFor('text', 'later');
    const [first] = back.messages.filter(({ data }) => data.record?.text === 'missed');
    assert.deepEqual({ event: first?.event, action: first?.data.action }, { event: 'notes/*', action: 'create' });
    await back.cut();
  });

  await t.test("nothing of another account's, of a guest's, or of another topic", async () => {
    await leave(['notes/*'], token);
    await write('for alice');
    await tag('not followed');
    const [bobsStream, guests, other] = await Promise.all([
      openRawStream(url, ['notes/*', 'tags/*?mark=1'], { token: bobs }),
      openRawStream(url, ['notes/*', 'tags/*?mark=1']),
      openRawStream(url, ['tags/*?mark=2'], { token }),
    ]);
    await tag('for everyone');
    for (const stream of [bobsStream, guests, other]) {
      await stream.waitFor('name', 'for everyone');
      // A change from just before a subscription may still come.
      assert.deepEqual(
        textsOf(stream).filter((text) => text !== 'not followed'),
        ['for everyone'],
      );
      await stream.cut();
    }
  });

  await t.test('for a guest, by address', async () => {
    await leave(['tags/*?guest=1']);
    await tag('missed by a guest');
    const back = await openRawStream(url, ['tags/*?guest=1']);
    await back.waitFor('name', 'missed by a guest');
    await back.cut();
  });

  await t.test('not for a second stream while the first one is open', async () => {
    const first = await openRawStream(url, ['notes/*?tab=1'], { token });
    await write('for the first tab');
    await first.waitFor('text', 'for the first tab');
    const second = await openRawStream(url, ['notes/*?tab=1'], { token });
    await write('for both');
    await Promise.all([first, second].map((stream) => stream.waitFor('text', 'for both')));
    assert.deepEqual(textsOf(second), ['for both']);
    await Promise.all([first.cut(), second.cut()]);
  });

  await t.test('nothing of a time in which the rule was closed', async () => {
    await leave(['tags/*?closed=1'], token);
    const rule = (list_rule: string | null) => admin.patch('/api/v1/collections/tags', { list_rule });
    await rule('');
    await tagAndSend('while it was closed');
    await rule(null);
    const back = await openRawStream(url, ['tags/*?closed=1'], { token });
    await tag('after it was opened');
    await back.waitFor('name', 'after it was opened');
    assert.deepEqual(textsOf(back), ['after it was opened']);
    await back.cut();
  });

  await t.test('nothing while the setting is 0', async () => {
    await admin.patch('/api/v1/admin/settings', { 'pocketbase.replay_s': '0' });
    await leave(['tags/*?off=1'], token);
    await tagAndSend('while it is off');
    const back = await openRawStream(url, ['tags/*?off=1', 'notes/*?off=1'], { token });
    await write('while it is off too');
    await back.waitFor('text', 'while it is off too');
    assert.ok(!textsOf(back).includes('while it is off'));
    await back.cut();
    await admin.patch('/api/v1/admin/settings', { 'pocketbase.replay_s': '' });
  });
});
