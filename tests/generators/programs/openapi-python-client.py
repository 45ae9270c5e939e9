import importlib
import pkgutil
import sys

import recordbus_client
from recordbus_client.api.books import create_books, list_books, view_books
from recordbus_client.client import AuthenticatedClient
from recordbus_client.models.books_create import BooksCreate
from recordbus_client.models.books_create_kind import BooksCreateKind

for module in pkgutil.walk_packages(recordbus_client.__path__, "recordbus_client."):
    importlib.import_module(module.name)

url, token = sys.argv[1:]
client = AuthenticatedClient(base_url=url, token=token, raise_on_unexpected_status=True)
created = create_books.sync(client=client, body=BooksCreate(title="Notes", kind=BooksCreateKind.ESSAY))
listed = list_books.sync(client=client)
got = view_books.sync(created.data.id, client=client)
print(len(listed.data), got.data.title)
