import sys

import openapi_client
from openapi_client.models.books_create import BooksCreate

url, token = sys.argv[1:]
configuration = openapi_client.Configuration(host=url, access_token=token)
books = openapi_client.BooksApi(openapi_client.ApiClient(configuration))
created = books.create_books(BooksCreate(title="Notes", kind="essay"))
# Its models ignore unknown members, so a page by number also fits the page by cursor, and it refuses the list.
listed = books.list_books(cursor="").actual_instance
got = books.view_books(created.data.id)
print(len(listed.data), got.data.title)
