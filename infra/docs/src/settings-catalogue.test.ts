import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sections, sectionsOf } from '@recordbus/admin-pages/settings-catalogue';
import { type FamilyKey, isSecretKey, isStateKey, namedKey, settingGroups, whatItTakes } from '@recordbus/settings';

const nameFor = (family: string) => (family.includes('<name>') ? 'staff' : family.includes('<lang>') ? 'de' : 'users');

/** What `GET /settings/groups` answers with one auth collection, one named provider and one language. */
const groups = settingGroups.map(({ title, readBy, settings, families }) => {
  const described = [...Object.entries(settings), ...Object.entries(families)].map(([key, setting]) => ({
    key: key.includes('<') ? namedKey(key as FamilyKey, nameFor(key)) : key,
    about: setting.about,
    takes: whatItTakes(setting),
    default: setting.defaultText,
    is_secret: isSecretKey(key),
    is_set: false,
    value: setting.defaultText,
  }));
  return { title, read_by: readBy, settings: described.filter(({ key }) => !isStateKey(key)), families: [] };
});
const shown = sectionsOf(groups).flatMap(({ name, parts }) =>
  parts.flatMap(({ settings }) => settings.map((one) => ({ ...one, page: name }))),
);

describe("the settings' pages", () => {
  test('every setting has a page, a label that is not its key, and a sentence', () => {
    assert.deepEqual(
      shown.filter(({ page }) => page === 'Other').map(({ key }) => key),
      [],
      'add it to services/admin/pages/src/settings/catalogue',
    );
    const keys = groups.flatMap(({ settings }) => settings.map(({ key }) => key));
    assert.deepEqual(shown.map(({ key }) => key).toSorted(), keys.toSorted());
    for (const { key, label, about } of shown) {
      assert.notEqual(label, key);
      assert.match(about, /^[A-Z0-9].*\.$/, key);
      assert.doesNotMatch(about, /in seconds|in bytes|1 or 0|comma/i, key);
    }
  });

  test('no two settings on a page have the same label', () => {
    const names = shown.map(({ page, label }) => `${page}: ${label}`);
    assert.deepEqual(
      names.filter((name, index) => names.indexOf(name) !== index),
      [],
    );
  });

  test('no page names a setting that does not exist', () => {
    const known = [...settingGroups].flatMap(({ settings, families }) => Object.keys({ ...settings, ...families }));
    const named = sections.flatMap(({ parts }) => parts.flatMap(({ settings }) => settings.map(({ key }) => key)));
    assert.deepEqual(
      named.filter((key) => !known.includes(key)),
      [],
    );
  });

  test('every choice that the pages offer is one that the server takes, and every time and size is a whole number', () => {
    const patch = new Map(
      settingGroups.flatMap(({ settings, families }) => Object.entries({ ...settings, ...families })),
    );
    const schemaOf = (key: string) => patch.get(key.replace(/\.users$/, '.<collection>'))?.schema;
    for (const { key, control, setting } of shown) {
      if (control?.kind === 'choice')
        for (const text of Object.keys(control.choices).filter(Boolean))
          assert.ok(schemaOf(key)?.safeParse(text).success, `${key}: ${text}`);
      if (control?.kind === 'time' || control?.kind === 'size') assert.match(setting.default, /^\d+$/, key);
    }
  });
});
