package io.firesteel.bench

import java.net.URI
import java.net.http.{HttpClient, HttpRequest, HttpResponse}
import java.util.{Collections, Iterator => JavaIterator, List => JavaList}
import java.util.concurrent.CompletableFuture

import io.firesteel.lookup.{AsyncLookupFunction, SyncLookupFunction}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.StructType

/** Asks [[HttpStore]] for one customer per request, and has several requests under way. */
private final class HttpLookup(url: String, columns: StructType) extends AsyncLookupFunction {

  override def maxBatchKeys: Int = 1

  override def lookupAsync(
      keys: JavaList[InternalRow]): CompletableFuture[JavaList[InternalRow]] = {
    val id = keys.get(0).getLong(0)
    HttpAnswers.client
      .sendAsync(HttpAnswers.request(url, id), HttpResponse.BodyHandlers.ofString())
      .thenApply[JavaList[InternalRow]](HttpAnswers.rows(_, id, columns))
  }
}

/** The same, one request after the other. */
private final class HttpSyncLookup(url: String, columns: StructType) extends SyncLookupFunction {

  override def maxBatchKeys: Int = 1

  override def lookup(keys: JavaList[InternalRow]): JavaIterator[InternalRow] = {
    val id = keys.get(0).getLong(0)
    val answer =
      HttpAnswers.client.send(HttpAnswers.request(url, id), HttpResponse.BodyHandlers.ofString())
    HttpAnswers.rows(answer, id, columns).iterator
  }
}

private object HttpAnswers {

  /** One per process: it keeps connections open. */
  val client: HttpClient = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()

  def request(url: String, id: Long): HttpRequest =
    HttpRequest.newBuilder(URI.create(s"$url$id")).build()

  def rows(answer: HttpResponse[String], id: Long, columns: StructType): JavaList[InternalRow] =
    if (answer.statusCode == 404) Collections.emptyList[InternalRow]
    else {
      val tab = answer.body.indexOf('\t'.toInt)
      val (name, region) = (answer.body.take(tab), answer.body.drop(tab + 1))
      Collections.singletonList(Customers.row(columns, id, name, region.toInt))
    }
}
