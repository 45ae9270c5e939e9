import { defineExtension, refuse } from '@recordbus/extensions';

/** Account hooks: they add values, refuse accounts, and list accounts and their changes. */
export const extension = defineExtension({
  hooks: {
    '*': {
      beforeCreate({ values }) {
        if (values.nick === 'nobody') throw refuse(403, 'nobody gets in anywhere');
      },
    },
    club_members: {
      beforeValidate({ values, operation }) {
        if (operation === 'create' && typeof values.nick === 'string') values.team ??= `team of ${values.nick}`;
      },
      afterValidate({ values }) {
        if (String(values.email).endsWith('@rival.example'))
          throw refuse(422, 'validation failed', { email: 'is of the other club' });
      },
      async beforeCreate({ values, caller }, { records }) {
        const names = Object.keys(values).sort().join();
        await records.create('club_list', { entry: `${values.nick} as ${caller.type} with ${names}` });
        if (values.nick === 'Late') throw refuse(409, 'the club is full', { members: 'are many' });
        if (values.nick === 'Slow') await new Promise(() => {});
        if (values.nick === 'Vain') values.verified = true;
        values.nick = `${values.nick} the new`;
      },
      async beforeUpdate({ values, previous, caller }, { records }) {
        const written = Object.entries(values).map(([name, value]) => `${name}=${value}`);
        await records.create('club_list', {
          entry: `${previous?.nick} as ${caller.type} gets ${written.sort().join()}`,
        });
        values.team = 'the old ones';
      },
    },
  },
});
