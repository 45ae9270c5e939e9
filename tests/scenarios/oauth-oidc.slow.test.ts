import { startOidcServer } from '../harness/servers/oidc-server.ts';
import { onEachTopology } from '../harness/stacks/target.ts';
import { links } from './oauth/links.ts';
import { merging } from './oauth/merging.ts';
import { pkce } from './oauth/pkce.ts';
import { requests } from './oauth/requests.ts';
import { signingIn } from './oauth/signing-in.ts';
import { createVisitor } from './oauth/visitor.ts';

onEachTopology('users sign in with OAuth2', async (t, target) => {
  const admin = await target.admin();
  await admin.post('/api/v1/collections', {
    name: 'people',
    type: 'auth',
    fields: [{ name: 'nick', type: 'text' }],
    update_rule: 'id = @request.auth.id',
    delete_rule: 'id = @request.auth.id',
  });
  await admin.post('/api/v1/collections', { name: 'plain', type: 'base', fields: [] });
  await using server = await startOidcServer();
  await requests(t, target, server);
  const visitor = createVisitor(target, server);
  await signingIn(t, target, server, visitor);
  await pkce(t, visitor);
  await merging(t, target, visitor);
  await links(t, target, visitor);
});
