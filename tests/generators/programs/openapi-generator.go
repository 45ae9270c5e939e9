package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"example.test/generated/api"
)

func main() {
	configuration := api.NewConfiguration()
	configuration.Servers = api.ServerConfigurations{{URL: os.Args[1]}}
	ctx := context.WithValue(context.Background(), api.ContextAccessToken, os.Args[2])
	books := api.NewAPIClient(configuration).BooksAPI
	created, _, err := books.CreateBooks(ctx).BooksCreate(*api.NewBooksCreate("Notes", "essay")).Execute()
	check(err)
	listed, _, err := books.ListBooks(ctx).Execute()
	check(err)
	got, _, err := books.ViewBooks(ctx, created.Data.Id).Execute()
	check(err)
	fmt.Println(len(listed.BooksPage.Data), got.Data.Title)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
