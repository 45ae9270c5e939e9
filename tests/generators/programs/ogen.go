package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"example.test/generated/api"
	"github.com/ogen-go/ogen/ogenerrors"
)

type asAdmin struct{ token string }

func (given asAdmin) Admin(context.Context, api.OperationName) (api.Admin, error) {
	return api.Admin{Token: given.token}, nil
}

func (asAdmin) Key(context.Context, api.OperationName) (api.Key, error) {
	return api.Key{}, ogenerrors.ErrSkipClientSecurity
}

func (asAdmin) User(context.Context, api.OperationName) (api.User, error) {
	return api.User{}, ogenerrors.ErrSkipClientSecurity
}

func main() {
	url, token := os.Args[1], os.Args[2]
	ctx := context.Background()
	client, err := api.NewClient(url, asAdmin{token})
	check(err)
	created, err := client.CreateBooks(ctx, &api.BooksCreate{Title: "Notes", Kind: api.BooksCreateKindEssay}, api.CreateBooksParams{})
	check(err)
	id := created.(*api.BooksCreateAnswerHeaders).Response.Data.ID
	listed, err := client.ListBooks(ctx, api.ListBooksParams{})
	check(err)
	page, isPage := listed.(*api.BooksListAnswerHeaders).Response.GetBooksPage()
	if !isPage {
		log.Fatal("the list is not a page")
	}
	got, err := client.ViewBooks(ctx, api.ViewBooksParams{ID: id})
	check(err)
	fmt.Println(len(page.Data), got.(*api.BooksViewAnswerHeaders).Response.Data.Title)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
