package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"

	"example.test/generated/api"
)

func main() {
	url, token := os.Args[1], os.Args[2]
	ctx := context.Background()
	client, err := api.NewClientWithResponses(url, api.WithRequestEditorFn(func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+token)
		return nil
	}))
	check(err)
	created, err := client.CreateBooksWithResponse(ctx, nil, api.BooksCreate{Title: "Notes", Kind: api.BooksCreateKindEssay})
	check(err)
	listed, err := client.ListBooksWithResponse(ctx, nil)
	check(err)
	page, err := listed.JSON200.AsBooksPage()
	check(err)
	got, err := client.ViewBooksWithResponse(ctx, created.JSON201.Data.Id, nil)
	check(err)
	fmt.Println(len(page.Data), got.JSON200.Data.Title)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
