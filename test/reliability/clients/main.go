// Calls a service with the generated client for Go. Prints a line for each call.
package main

import (
	"context"
	"fmt"
	"os"

	mintkeep "example.com/clients/mintkeep"
)

func check(name string, err error) {
	if err != nil {
		fmt.Println(name, "failed:", err)
		os.Exit(1)
	}
	fmt.Println(name)
}

func main() {
	configuration := mintkeep.NewConfiguration()
	configuration.Servers = mintkeep.ServerConfigurations{{URL: os.Getenv("MINTKEEP_URL")}}
	client := mintkeep.NewAPIClient(configuration)
	ctx := context.WithValue(context.Background(), mintkeep.ContextAccessToken, os.Getenv("SESSION"))

	project, _, err := client.ProjectsAPI.CreateProject(ctx).CreateProject(*mintkeep.NewCreateProject("From Go")).Execute()
	check("createProject", err)
	_, _, err = client.ProjectsAPI.ListProjects(ctx).Execute()
	check("listProjects", err)
	content := *mintkeep.NewCreateDocument("Title", "title")
	document, _, err := client.DocumentsAPI.CreateDocument(ctx, project.Id).CreateDocument(content).Execute()
	check("createDocument", err)
	_, _, err = client.DocumentsAPI.GetDocument(ctx, project.Id, document.Id).Execute()
	check("getDocument", err)
	_, _, err = client.DocumentsAPI.ListDocuments(ctx, project.Id).Execute()
	check("listDocuments", err)
	key, _, err := client.KeysAPI.MintKey(ctx).Execute()
	check("mintKey", err)
	_, _, err = client.KeysAPI.ListKeys(ctx).Execute()
	check("listKeys", err)
	_, err = client.KeysAPI.RevokeKey(ctx, key.Id).Execute()
	check("revokeKey", err)
	_, _, err = client.UsageAPI.SummarizeUsage(ctx).Execute()
	check("summarizeUsage", err)
	_, _, err = client.LimitsAPI.GetLimits(ctx).Execute()
	check("getLimits", err)
}
